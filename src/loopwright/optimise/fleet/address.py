"""The address of a Dask scheduler, and connections to it.

Dask executes any code it receives.  So a connection is encrypted and authenticated on both sides (TLS), or
local to the machine.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass

CONNECTING = 10.0
"""The time limit in seconds for an answer of the scheduler."""

TLS = (
    "start scheduler and workers with certificates (--protocol tls --tls-ca-file --tls-cert --tls-key), and "
    "write --on tls://HOST:PORT --tls-ca CA.pem --tls-cert CERT.pem --tls-key KEY.pem"
)


@dataclass(frozen=True)
class Scheduler:
    """The location of a fleet: the scheduler's address, and for `tls://` three files in PEM format."""

    address: str
    authority: str = ""
    certificate: str = ""
    key: str = ""


def refuse_open(scheduler: Scheduler) -> None:
    """Raise for an address to which other users could connect, or where they could impersonate the
    scheduler."""
    if scheduler.address.startswith("tls://"):
        if not (scheduler.authority and scheduler.certificate and scheduler.key):
            message = "a tls:// address needs certificates that authenticate both sides"
            raise BadInput(Code.OPTION, message, hint=TLS)
    elif not scheduler.address.startswith("tcp://"):
        message = f"the address '{scheduler.address}' must have the form tcp://HOST:PORT or tls://HOST:PORT"
        raise BadInput(Code.OPTION, message, hint=TLS)
    elif not is_loopback(scheduler.address):
        message = (
            f"{scheduler.address} is neither on this machine nor encrypted: Dask executes what it is sent"
        )
        raise BadInput(Code.OPTION, message, hint=TLS)


def is_loopback(address: str) -> bool:
    """Whether the address is local to this machine."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def demand_dask() -> None:
    """Raise if Dask is not installed."""
    if find_spec("distributed") is None:
        hint = "pip install 'loopwright[fleet]'"
        raise BadInput(Code.MISSING_PART, "--on needs distributed", hint=hint)


@contextmanager
def connected(scheduler: Scheduler, patience: float = CONNECTING) -> Iterator[Any]:
    """A client of the scheduler.

    It has its own thread, so it is closed before this process forks for a proof.
    """
    from distributed import Client
    from distributed.security import Security

    security = None
    if scheduler.address.startswith("tls://"):
        security = Security(
            require_encryption=True,
            tls_ca_file=scheduler.authority,
            tls_client_cert=scheduler.certificate,
            tls_client_key=scheduler.key,
        )
    try:
        client = Client(scheduler.address, security=security, timeout=patience)
    except (OSError, TimeoutError) as failure:
        message = f"no scheduler answers at {scheduler.address}: {failure}"
        hint = "start one with 'dask scheduler', and workers with 'dask worker ADDRESS'"
        raise BadInput(Code.OPTION, message, hint=hint) from None
    try:
        yield client
    finally:
        client.close(timeout=CONNECTING)
