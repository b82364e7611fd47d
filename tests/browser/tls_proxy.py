"""A proxy that speaks TLS to visitors and passes on what they say to a server that does not."""

import asyncio
import datetime as dt
import ipaddress
import ssl
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@contextmanager
def tls_proxy(folder, port, target):
    """A TLS context that trusts a proxy of 127.0.0.1, from a port to that of a server, until the block ends."""
    certificate = _write_certificate(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    # Tickets come after the handshake. The tests' WebSocket client reads them in one thread while it writes in
    # another, which OpenSSL does not allow: 1 of 200 connections broke off before the first answer.
    context.num_tickets = 0
    ready = Future()

    async def serve():
        stop = asyncio.Event()
        async with await asyncio.start_server(partial(_pass_on, target), "127.0.0.1", port, ssl=context):
            ready.set_result(partial(asyncio.get_running_loop().call_soon_threadsafe, stop.set))
            await stop.wait()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    stop = ready.result(10)
    try:
        yield ssl.create_default_context(cafile=certificate)
    finally:
        stop()
        thread.join(10)


async def _pass_on(target, reader, writer):
    answers, requests = await asyncio.open_connection("127.0.0.1", target)
    with suppress(OSError):
        await asyncio.gather(_copy(reader, requests), _copy(answers, writer))


async def _copy(reader, writer):
    try:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


def _write_certificate(folder):
    """A file with a key and a certificate of 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + dt.timedelta(days=1))
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    file = folder / "proxy.pem"
    encoding = serialization.Encoding.PEM
    secret = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(secret + certificate.public_bytes(encoding))
    return file
