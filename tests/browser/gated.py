"""A server for several people, with an OpenID provider of its own."""

import json
from contextlib import contextmanager

from servers import TIESCOPE, free_port, running

COOKIE_SECRET = "4b1d0f6a9c3e7d2851f06a9b3c4d5e6f"  # noqa: S105 of no server that stays
PEOPLE = [
    {"sub": "ada", "email": "Ada@Example.org", "email_verified": True},
    {"sub": "bob", "email": "bob@example.org", "email_verified": True},
    {"sub": "eve", "email": "_eve_@example.org", "email_verified": True},
    {"sub": "unverified", "email": "ada@example.org", "email_verified": False},
]
SECRETS = """[auth]
redirect_uri = "{origin}/oauth2callback"
cookie_secret = "{cookie_secret}"
client_id = "tiescope"
client_secret = "not checked"
server_metadata_url = "{metadata}"
"""


@contextmanager
def provider(folder, people=PEOPLE):
    """Address of the metadata of an OpenID provider that knows these people."""
    port = free_port()
    metadata = f"http://127.0.0.1:{port}/.well-known/openid-configuration"
    claims = [f"--user-claims={json.dumps(person)}" for person in people]
    with running(["-m", "oidc_provider_mock", "--port", str(port), *claims], metadata, folder):
        yield metadata


def prepare(folder, origin, metadata):
    """Environment of a server that people reach at an origin and sign in to."""
    secrets = folder / "secrets.toml"
    secrets.write_text(SECRETS.format(origin=origin, cookie_secret=COOKIE_SECRET, metadata=metadata))
    return {"STREAMLIT_SECRETS_FILES": str(secrets), "TIESCOPE_HOME": str(folder / "home")}


@contextmanager
def gated(folder, allow, *options, origin=None, **environment):
    """Address of a server that lets in these people alone.

    Args:
        folder: of its secrets, its library and its log.
        allow: who may sign in.
        *options: of the command.
        origin: that people type, where a proxy leads to the server; its own where None.
        **environment: more of it.
    """
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    (folder / "provider").mkdir()
    command = [*TIESCOPE, "app", "--port", str(port), *(part for who in allow for part in ("--allow", who))]
    with (
        provider(folder / "provider") as metadata,
        running(
            [*command, *options],
            f"{address}/_stcore/health",
            folder,
            prepare(folder, origin or address, metadata) | environment,
        ),
    ):
        yield address
