"""A server for several people, with an OpenID provider of its own."""

import json
from contextlib import contextmanager

from servers import TIESCOPE, free_port, running

PEOPLE = [
    {"sub": "ada", "email": "Ada@Example.org", "email_verified": True},
    {"sub": "bob", "email": "bob@example.org", "email_verified": True},
    {"sub": "eve", "email": "_eve_@example.org", "email_verified": True},
    {"sub": "unverified", "email": "ada@example.org", "email_verified": False},
]
SECRETS = """[auth]
redirect_uri = "{origin}/oauth2callback"
cookie_secret = "4b1d0f6a9c3e7d2851f06a9b3c4d5e6f"
client_id = "tiescope"
client_secret = "not checked"
server_metadata_url = "{metadata}"
"""


@contextmanager
def provider(folder):
    """Address of the metadata of an OpenID provider that knows `PEOPLE`."""
    port = free_port()
    metadata = f"http://127.0.0.1:{port}/.well-known/openid-configuration"
    claims = [f"--user-claims={json.dumps(person)}" for person in PEOPLE]
    with running(["-m", "oidc_provider_mock", "--port", str(port), *claims], metadata, folder):
        yield metadata


@contextmanager
def gated(folder, allow, *options, scheme="http", **environment):
    """Address of a server that lets in these people alone.

    Args:
        folder: of its secrets, its library and its log.
        allow: who may sign in.
        *options: of the command.
        scheme: that people type, where a proxy speaks TLS.
        **environment: more of it.
    """
    port = free_port()
    address, secrets = f"http://127.0.0.1:{port}", folder / "secrets.toml"
    environment |= {"STREAMLIT_SECRETS_FILES": str(secrets), "TIESCOPE_HOME": str(folder / "home")}
    (folder / "provider").mkdir()
    command = [*TIESCOPE, "app", "--port", str(port), *(part for who in allow for part in ("--allow", who))]
    with provider(folder / "provider") as metadata:
        secrets.write_text(SECRETS.format(origin=f"{scheme}://127.0.0.1:{port}", metadata=metadata))
        with running([*command, *options], f"{address}/_stcore/health", folder, environment):
            yield address
