"""Requirements for sign-in before the app is served to others, and the allow-list of addresses and domains."""

import importlib.util
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from metrics.errors import UsageError

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
INSTALL = "pip install 'tiescope[sign-in]'"
_CALLBACK = "/oauth2callback"
_MIN_SECRET_LENGTH = 32
"""Minimum letters of a cookie secret; whoever guesses it can sign in as anybody."""
_DOMAIN = r"[a-z0-9-]+(?:\.[a-z0-9-]+)+"
_ADDRESS = rf"[a-z0-9.!#$%&'+/=^_`{{|}}~-]+@{_DOMAIN}"


def is_loopback(host: str | None) -> bool:
    """Return whether only this machine reaches an address; None means all addresses."""
    if host is None or host.casefold() == "localhost":
        return host is not None
    try:
        return any(ip_address(host) in network for network in _LOOPBACK)
    except ValueError:
        return False


def missing_parts(auth: Mapping[str, Any]) -> str:
    """Return what an `[auth]` section lacks, or an empty text."""
    absent = [key for key in _NEEDED if not (isinstance(auth.get(key), str) and auth[key].strip())]
    if absent:
        return f"[auth] has no {', '.join(absent)}"
    if not auth["redirect_uri"].endswith(_CALLBACK):
        return f"redirect_uri must end in {_CALLBACK}, such as http://localhost:8501{_CALLBACK}"
    if len(auth["cookie_secret"]) < _MIN_SECRET_LENGTH:
        return f"cookie_secret must have at least {_MIN_SECRET_LENGTH} random characters"
    return ""


def can_sign_in() -> bool:
    """Return whether Streamlit's sign-in packages are installed."""
    return all(importlib.util.find_spec(package) for package in ("authlib", "httpx"))


def demand_sign_in(host: str, entries: Sequence[str]) -> None:
    """Raise a UsageError if others can reach the host, or sign-in is configured, and something is missing."""
    files = _secrets_files()
    auth = _auth_section(files)
    if auth is None and not entries and is_loopback(host):
        return
    lack = f"there is no [auth] section with {', '.join(_NEEDED)}" if auth is None else missing_parts(auth)
    parts = [
        f"in {' or '.join(map(str, files))}, {lack}" if lack else "",
        "" if can_sign_in() else f"Authlib is not installed ({INSTALL})",
        "" if entries else "no address is allowed to sign in (give --allow ADDRESS, or set TIESCOPE_ALLOW)",
    ]
    if missing := "; ".join(filter(None, parts)):
        host = host or "every address of this machine"
        exposure = "" if is_loopback(host) else f"Others can reach {host}, so visitors must sign in. "
        raise UsageError(
            f"{exposure}Sign-in is not set up: {missing}. To serve without sign-in, give --insecure; everybody "
            "can then see and change everything."
        )


def redirect_origin() -> str:
    """Return the origin to which the provider returns visitors, or an empty text without sign-in."""
    uri = urlsplit(str((_auth_section(_secrets_files()) or {}).get("redirect_uri", "")))
    return f"{uri.scheme}://{uri.netloc}" if uri.netloc else ""


def _secrets_files() -> list[Path]:
    """Return Streamlit's secrets files; later files override sections."""
    if paths := os.environ.get("STREAMLIT_SECRETS_FILES", "").split():
        return [Path(file) for file in paths]
    folders = [Path.home() / ".streamlit", Path(".streamlit")]
    configured = [_toml(folder / "config.toml").get("secrets", {}).get("files") for folder in folders]
    secrets_files = configured[1] or configured[0] or [folder / "secrets.toml" for folder in folders]
    return [Path(file) for file in secrets_files]


def _auth_section(files: Sequence[Path]) -> Mapping[str, Any] | None:
    auth = None
    for file in files:
        auth = _toml(file).get("auth", auth)
    if auth is not None and not isinstance(auth, Mapping):
        raise UsageError(
            f"{files[-1]}: auth is not a section. Write [auth] on a line of its own, above its keys."
        )
    return auth


def _toml(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file, empty if it does not exist."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}. Correct the file first: its settings may require visitors to "
            "sign in."
        ) from None


# the allow-list


def plain_address(text: str) -> str | None:
    """Return an e-mail address in lower case; None if it is invalid, not ASCII or contains a *.

    Other letters can look like ASCII or become ASCII in lower case; a * could mean everybody.
    """
    return text.lower() if text.isascii() and re.fullmatch(_ADDRESS, text.lower()) else None


def parse_allow_list(texts: Iterable[str]) -> tuple[str, ...]:
    """Return addresses, and domains prefixed with @, in lower case.

    Raises:
        UsageError: an entry is neither an address nor a domain.
    """
    entries = (text.strip() for text in texts)
    return tuple(dict.fromkeys(_entry(entry) for entry in entries if entry))


def _entry(text: str) -> str:
    domain = text.lower().removeprefix("@")
    if address := plain_address(text):
        return address
    if not text.isascii() or not re.fullmatch(_DOMAIN, domain):
        raise UsageError(
            f"{text!r} is neither an e-mail address nor a domain, so it cannot be allowed to sign in. Write "
            "ada@example.org or example.org in ASCII, and international domains in their xn-- form."
        )
    return f"@{domain}"


def is_allowed(address: object, verified: object, entries: Collection[str]) -> bool:
    """Return whether an identity is on the allow-list.

    Args:
        address: e-mail address from the provider, None without one.
        verified: the provider's `email_verified`; None counts as verified.
        entries: result of `parse_allow_list`.
    """
    plain = plain_address(address) if isinstance(address, str) else None
    if plain is None or str(verified).lower() not in {"true", "none"}:
        return False
    return not {plain, f"@{plain.partition('@')[2]}"}.isdisjoint(entries)
