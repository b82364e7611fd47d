"""Redirects of web servers: followed to what may be opened, and nowhere else."""

import json
import os
from typing import Any
from urllib.parse import urljoin

from dashboard.access.allowed_paths import AllowedPaths
from dashboard.access.settings import ALLOW_PATHS
from metrics.errors import UsageError, needs


def guard_redirects() -> None:
    """Have every web address that this process opens from now on lead nowhere that is not allowed.

    Raises:
        MissingPackageError: nothing is installed that opens addresses.
    """
    with needs("distributed"):
        from fsspec.config import conf  # noqa: PLC0415 of an extra
    for scheme in ("http", "https"):
        conf.setdefault(scheme, {})["get_client"] = _guarded_client


async def _guarded_client(**options: Any) -> Any:  # noqa: ANN401 as fsspec passes them on
    """Return a session of aiohttp that asks before it follows a redirect."""
    import aiohttp  # noqa: PLC0415 what opens http, where it is installed

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(refuse_elsewhere)
    return aiohttp.ClientSession(trace_configs=[trace], **options)


async def refuse_elsewhere(_session: object, _context: object, redirect: Any) -> None:  # noqa: ANN401 aiohttp's
    """Raise a UsageError where a redirect leads to what may not be opened."""
    texts = json.loads(os.environ.get(ALLOW_PATHS) or "[]")
    allowed = AllowedPaths(addresses=tuple(text for text in texts if "://" in text))
    headers = redirect.response.headers
    target = urljoin(str(redirect.url), headers.get("Location") or headers.get("URI") or "")
    if not allowed.has_address(target):
        raise UsageError(f"{redirect.url}: it leads to what may not be opened here.")
