"""Requests to an ASGI app, without a server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx


def finish(coroutine):
    """What a coroutine returns, run in a thread of its own: a browser of other tests runs its loop here."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, coroutine).result()


def answer(app, method, path, content=b"", address="127.0.0.1"):
    """What an app answers to one request from an address."""

    async def ask():
        transport = httpx.ASGITransport(app, client=(address, 123))
        async with httpx.AsyncClient(transport=transport, base_url="http://tiescope") as client:
            return await client.request(method, path, content=content)

    return finish(ask())
