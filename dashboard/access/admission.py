"""Who may come in: the allow-list, and what sign-in needs before the app is served to others."""

import importlib.util
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from metrics.errors import UsageError

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
INSTALL = "pip install 'tiescope[sign-in]'"
_CALLBACK = "/oauth2callback"
_LEAST = 32
"""Letters of a cookie secret: who guesses it signs in as anybody."""
_DOMAIN = r"[a-z0-9-]+(?:\.[a-z0-9-]+)+"
_ADDRESS = rf"[a-z0-9.!#$%&'+/=^_`{{|}}~-]+@{_DOMAIN}"


def is_loopback(host: str | None) -> bool:
    """Whether only this machine reaches an address: 127.0.0.0/8, ::1 or localhost. None is every address."""
    if host is None or host.casefold() == "localhost":
        return host is not None
    try:
        return any(ip_address(host) in network for network in _LOOPBACK)
    except ValueError:
        return False


def plain_address(text: str) -> str | None:
    """An e-mail address in lower case; None where it is none, or has a * or other letters than ASCII's.

    Those are refused, for some look like ASCII's and some become them in lower case; a * may mean anybody.
    """
    return text.lower() if text.isascii() and re.fullmatch(_ADDRESS, text.lower()) else None


def allow_list(texts: Iterable[str]) -> tuple[str, ...]:
    """Who may sign in: addresses as they are, domains with an @ before them, all in lower case."""
    entries = (text.strip() for text in texts)
    return tuple(dict.fromkeys(_entry(entry) for entry in entries if entry))


def _entry(text: str) -> str:
    domain = text.lower().removeprefix("@")
    if address := plain_address(text):
        return address
    if not text.isascii() or not re.fullmatch(_DOMAIN, domain):
        raise UsageError(
            f"{text!r} cannot be allowed to sign in. Give an address (ada@example.org) or a domain "
            "(example.org), in ASCII: international domains in their xn-- form."
        )
    return f"@{domain}"


def missing_parts(auth: Mapping[str, Any]) -> str:
    """What an `[auth]` section lacks, as one text; nothing where it is whole."""
    absent = [key for key in _NEEDED if not (isinstance(auth.get(key), str) and auth[key].strip())]
    if absent:
        return f"[auth] has no {', '.join(absent)}"
    if not auth["redirect_uri"].endswith(_CALLBACK):
        return f"redirect_uri must end in {_CALLBACK}, such as http://localhost:8501{_CALLBACK}"
    if len(auth["cookie_secret"]) < _LEAST:
        return f"cookie_secret must have {_LEAST} letters or more, drawn at random"
    return ""


def can_sign_in() -> bool:
    """Whether the packages are installed that Streamlit signs people in with."""
    return all(importlib.util.find_spec(package) for package in ("authlib", "httpx"))


def demand_sign_in(host: str, entries: Sequence[str]) -> None:
    """Refuse to serve where sign-in is needed, or was begun to be set up, and some of it is missing.

    Args:
        host: address to serve on; others than loopback need sign-in.
        entries: who may sign in.
    """
    files = _secrets_files()
    auth = _auth_section(files)
    if auth is None and not entries and is_loopback(host):
        return
    lacks = f"there is no [auth] with {', '.join(_NEEDED)}" if auth is None else missing_parts(auth)
    wrong = [
        f"in {' or '.join(map(str, files))}, {lacks}" if lacks else "",
        "" if can_sign_in() else f"Authlib: {INSTALL}",
        "" if entries else "who is allowed: --allow ADDRESS, or addresses in TIESCOPE_ALLOW",
    ]
    if told := "; ".join(filter(None, wrong)):
        why = (
            "Sign-in is set up in part"
            if is_loopback(host)
            else f"Others can reach {host}, so sign-in is needed"
        )
        raise UsageError(
            f"{why}. Missing: {told}. Or --insecure: no sign-in, whoever reaches {host} sees and changes all."
        )


def _secrets_files() -> list[Path]:
    """Where Streamlit looks for secrets; of the same section in two files, the last one counts."""
    if given := os.environ.get("STREAMLIT_SECRETS_FILES", "").split():
        return [Path(file) for file in given]
    folders = [Path.home() / ".streamlit", Path(".streamlit")]
    configured = [_toml(folder / "config.toml").get("secrets", {}).get("files") for folder in folders]
    named = configured[1] or configured[0] or [folder / "secrets.toml" for folder in folders]
    return [Path(file) for file in named]


def _auth_section(files: Sequence[Path]) -> Mapping[str, Any] | None:
    found = None
    for file in files:
        found = _toml(file).get("auth", found)
    if found is not None and not isinstance(found, Mapping):
        raise UsageError(f"{files[-1]}: auth is not a section. Write [auth], and the keys below it.")
    return found


def _toml(file: Path) -> dict[str, Any]:
    """What a file says; nothing where there is none."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read, and may ask for sign-in: {error}. Mend it first.") from None
