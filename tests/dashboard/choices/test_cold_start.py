"""What the first page waits for."""

import subprocess
import sys


def test_no_page_waits_for_the_statistics_of_another():
    code = "import dashboard.choices, sys; print({'statsmodels', 'scipy.stats', 'dask'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 ours
    assert loaded.stdout.strip() == "set()"
