# SPDX-License-Identifier: Apache-2.0
"""The first frames of a connection: both sides show the key, the trainer says which batches it needs, the worker takes the job."""

from __future__ import annotations

import functools
import socket

from .errors import ProtocolError, ServiceError
from .frames import CHALLENGE, HELLO, REFUSED, WELCOME, Connection, close_all
from .keys import check, nonce, proof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext
    from typing import Any

SECONDS = 30.0  # for all of it; a worker may have to read a list of files first
_NEEDS_KEY = "this worker has a key: give the trainer the same, loader(key=...)"


@functools.lru_cache(None)
def this_machine() -> str:
    """A text that is another one on each machine and after each start of it."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def prepare(end: socket.socket) -> None:
    """Sends small frames at once, and makes the system notice a peer that has gone without a word, after half a minute at most."""
    if end.family == socket.AF_UNIX:
        return
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # what waits longer to be sent leaves the processor's cache
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 1 << 19)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 30000)):
        if hasattr(socket, option):
            end.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def received(connection: Connection, kind: int) -> dict[str, Any]:
    """The description of the next frame, which must be of this kind."""
    frame = connection.receive()
    close_all(frame.files)
    if frame.kind == REFUSED:
        raise ServiceError(f"{connection.name} refuses: {str(frame.description.get('why'))[:2000]}")
    if frame.kind != kind:
        raise ProtocolError(f"{connection.name} sent a frame of kind {frame.kind} where {kind} is due")
    return frame.description


def greet(
    connection: Connection, key: bytes | None, unix_name: str, take: Callable[[dict[str, Any]], Any], most: int
) -> Any:
    """The worker's part. `take`: makes of the job what the connection serves, or raises.

    Returns:
        What `take` returned.
    """
    own = nonce()
    challenge = {"nonce": own, "key": key is not None, "machine": this_machine(), "unix": unix_name}
    connection.send(CHALLENGE, challenge)
    hello = received(connection, HELLO)
    try:
        if key is not None and not hello.get("proof"):
            raise ServiceError(_NEEDS_KEY)
        check(key, hello.get("proof"), "trainer", own, hello.get("nonce"), "the trainer")
        if not isinstance(hello.get("job"), dict):
            raise ProtocolError("the trainer did not say which job")
        taken = take(hello["job"])
    except Exception as error:
        connection.send(REFUSED, {"why": str(error)})
        raise
    connection.trust(most)
    shown = proof(key, "worker", own, str(hello.get("nonce"))) if key is not None else ""
    connection.send(WELCOME, {"proof": shown})
    return taken


def introduce(connection: Connection, challenge: dict[str, Any], key: bytes | None, job: dict[str, Any]) -> None:
    """The trainer's part, after the challenge of the worker."""
    own, other = nonce(), str(challenge.get("nonce"))
    shown = proof(key, "trainer", own, other) if key is not None else ""
    connection.send(HELLO, {"nonce": own, "proof": shown, "job": job})
    welcome = received(connection, WELCOME)
    check(key, welcome.get("proof"), "worker", own, other, connection.name)


def reach(host: str, port: int, tls: SSLContext | None, name: str) -> tuple[Connection, dict[str, Any]]:
    """A connection to a worker, and its challenge: through a UNIX socket where the worker is on this machine, else TCP."""
    end = socket.create_connection((host, port), timeout=SECONDS)
    if tls is not None:
        end = tls.wrap_socket(end, server_hostname=host)
    prepare(end)
    connection = Connection(end, name)
    try:
        challenge = received(connection, CHALLENGE)
    except (EOFError, TimeoutError):
        connection.close()
        how = "the worker has no --certificate" if tls is not None else "it uses TLS (tls=)"
        raise ConnectionError(f"it did not greet: another program has this port, or {how}") from None
    except BaseException:
        connection.close()
        raise
    near = challenge.get("unix")
    if tls is None and near and isinstance(near, str) and challenge.get("machine") == this_machine() != "":
        try:
            local = socket.socket(socket.AF_UNIX)
            local.settimeout(SECONDS)
            local.connect("\0" + near)
        except OSError:  # another name space of the network, a container
            return connection, challenge
        connection.close()
        connection = Connection(local, name)
        challenge = received(connection, CHALLENGE)
    return connection, challenge
