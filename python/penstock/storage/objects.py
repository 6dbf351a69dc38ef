# SPDX-License-Identifier: Apache-2.0
"""Objects in buckets as they are written, each whole or not at all, and small ones as they are read."""

from __future__ import annotations

from urllib.parse import urlsplit

from .. import _core

_PART = 8 << 20  # bytes of a request; S3 takes 10,000 of them for an object
_AT_ONCE = 8  # parts
_MOST_CONTENT = 1 << 30  # bytes of an object that is read as a whole
_JOINED = 1 << 20  # bytes: what is smaller is sent together


def is_bucket(url):
    """Whether a URL is in an object store, which takes objects and lists them.

    Args:
        url: A URL or a path.
    """
    return urlsplit(url).scheme.lower() in ("s3", "s3a", "gs", "gcs")


def _answered(answer, url, what, absent=()):
    """The rest of an answer; None where it is one of the kinds of failure in `absent`."""
    if answer[0] is None:
        return answer[1:]
    kind, cause = answer
    if kind in absent:
        return None
    error = {"missing": FileNotFoundError, "unusable": ValueError}.get(kind, _core.DataError)
    raise error(f"{what}: {cause} (file: {url})")


def _joined(pieces):
    waiting, size = [], 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _JOINED:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def put(url, pieces, size):
    """Writes an object, which has its name when it is complete, in several requests at once where it is large.

    Args:
        url: Its URL.
        pieces: Its bytes, as an iterable of bytes.
        size: Their number.

    Raises:
        FileNotFoundError: There is no such bucket.
        DataError: The server does not take it, or what it has then is of another size.
        ValueError: The URL or the settings cannot be used.
    """
    from . import _client, connections  # late: the package imports nothing for those who only read

    def request(obstore, store, path):
        if size > _PART:
            at_once = min(_AT_ONCE, connections())
            obstore.put(store, path, _joined(pieces), use_multipart=True, chunk_size=_PART, max_concurrency=at_once)
        else:
            obstore.put(store, path, b"".join(pieces), use_multipart=False)
        return (None, obstore.head(store, path)["size"])

    (there,) = _answered(_client.repeated(request, url), url, "the object cannot be written")
    if there != size:
        raise _core.DataError(f"the object has {there} bytes, but {size} were written (file: {url})")


def put_new(url, content):
    """Writes an object unless there is one of this name.

    Args:
        url: Its URL.
        content: Its bytes.

    Returns:
        Whether it is written.

    Raises:
        FileNotFoundError: There is no such bucket.
        DataError: The server does not take it.
        ValueError: The URL or the settings cannot be used.
    """
    from . import _client

    def request(obstore, store, path):
        try:
            obstore.put(store, path, content, mode="create")
        except obstore.exceptions.AlreadyExistsError:
            return (None, False)
        return (None, True)

    return _answered(_client.repeated(request, url), url, "the object cannot be written")[0]


def content_of(url, absent=("missing",)):
    """Returns the bytes of an object.

    Args:
        url: Its URL.
        absent: What makes it None instead of an error: "missing", "refused" (some servers answer so where nothing is).

    Raises:
        DataError: It cannot be read.
        ValueError: The URL or the settings cannot be used.
    """
    from . import _client

    def request(obstore, store, path):
        answer = obstore.get(store, path)
        if answer.meta["size"] > _MOST_CONTENT:
            return ("refused", f"the object has {answer.meta['size']} bytes, more than the limit of {_MOST_CONTENT}")
        return (None, bytes(answer.bytes()))

    found = _answered(_client.repeated(request, url), url, "the object cannot be read", absent)
    return found and found[0]


def sizes_below(url):
    """Returns how many bytes the objects have whose names begin with a URL, by the rest of their names.

    Args:
        url: The URL, which ends with a slash.

    Raises:
        DataError: The server does not list them.
        ValueError: The URL or the settings cannot be used.
    """
    from . import _client, _settings

    (found,) = _answered(_client.list(url, int(_settings["tries"])), url, "the objects cannot be listed")
    return {name: size for name, size, *_ in found}


def remove(url, names):
    """Removes objects.

    Args:
        url: What their URLs begin with, which ends with a slash.
        names: The rest of their names.

    Raises:
        DataError: The server does not remove them.
        ValueError: The URL or the settings cannot be used.
    """
    from . import _client

    def request(obstore, store, path):
        obstore.delete(store, [path + name for name in names])
        return (None,)

    if names:
        _answered(_client.repeated(request, url), url, "objects cannot be removed")
