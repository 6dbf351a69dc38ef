# SPDX-License-Identifier: Apache-2.0
"""Who may talk to a worker: on the machine itself anyone of the same user, from beyond it those who have the key."""

from __future__ import annotations

import hashlib
import hmac
import os

from .errors import ServiceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

_LEAST = 16


def key_of(key: bytes | str | PathLike[str] | None) -> bytes | None:
    """The key that is given as bytes or as a file that holds it.

    Raises:
        ValueError: It is shorter than 16 bytes.
    """
    if key is None:
        return None
    where = "the key"
    if not isinstance(key, (bytes, bytearray)):
        where = f"the key in {os.fspath(key)}"
        with open(key, "rb") as file:
            key = file.read().strip()
    if len(key) < _LEAST:
        raise ValueError(f"{where} has {len(key)} bytes, and needs at least {_LEAST}: openssl rand -hex 32 makes one")
    return bytes(key)


def only_local(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    return host == "localhost" or host == "::1" or (host.startswith("127.") and host.replace(".", "").isdigit())


def nonce() -> str:
    """A text that was never used before."""
    return os.urandom(16).hex()


def proof(key: bytes, who: str, own: str, other: str) -> str:
    """Shows that a party has the key, for these two nonces only."""
    return hmac.new(key, f"penstock {who} {own} {other}".encode(), hashlib.sha256).hexdigest()


def check(key: bytes | None, given: object, who: str, own: str, other: object, name: str) -> None:
    """Compares the proof of a peer.

    Raises:
        ServiceError: It does not have the key.
    """
    if key is None:
        return
    wanted = proof(key, who, str(other), own)
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), wanted.encode()):
        raise ServiceError(f"{name} does not have the key of this service")
