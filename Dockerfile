# TieScope for several people. compose.yaml starts it with its database; the README says how people sign in.
FROM python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1

WORKDIR /app
COPY requirements-server.txt ./
RUN pip install --require-hashes --requirement requirements-server.txt

COPY pyproject.toml README.md LICENSE ./
COPY metrics metrics
COPY dashboard dashboard
COPY sample_data sample_data
RUN pip install --no-deps --no-build-isolation . \
    && useradd --uid 10001 --create-home tiescope \
    && install --directory --owner tiescope --group tiescope /data

USER 10001
WORKDIR /home/tiescope
ENV TIESCOPE_HOME=/data
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-I", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["tiescope", "app", "--host", "0.0.0.0"]
