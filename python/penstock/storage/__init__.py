# SPDX-License-Identifier: Apache-2.0
"""Remote storage: what readers do with paths such as s3://bucket/key, gs://bucket/key and https://host/file.

Readers take such URLs wherever they take paths. The requests are made by the package obstore (the extra "remote"), on
threads of their own. Credentials come from where the storage's own tools look: AWS_ACCESS_KEY_ID and its kind,
GOOGLE_APPLICATION_CREDENTIALS, or the machine's role; configure(s3={...}) and configure(gs={...}) say more.
"""

from __future__ import annotations

import os
import re
import threading
import time
from datetime import timedelta
from urllib.parse import unquote, urlsplit

from .. import _core
from .._base.log import warn
from ..progress import Work
from .limits import Failed, Pace, bytes_of, download

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["bytes_of", "configure", "connections", "stats"]
_DEFAULTS = {
    "connections": 32,
    "tries": 4,
    "first_pause": 0.2,
    "timeout": 30.0,
    "connect_timeout": 10.0,
    "least_rate": "1K",
    "read_ahead": "256M",
    "cache": None,
    "cache_limit": None,
    "cache_check": True,
    "s3": {},
    "gs": {},
    "http": {},
}
_settings = dict(_DEFAULTS)


def configure(**settings: Any) -> None:
    """Sets how this process reads from remote storage.

    What is not given stays as it is.

    Args:
        **settings: connections: requests at once (32).
            tries: of a request that fails for a reason that may pass (4).
            first_pause: seconds before the second try (0.2), twice as long before each further one.
            timeout: seconds without a byte, and until the headers of an answer are whole (30). connect_timeout:
                seconds (10).
            least_rate: bytes of a body a second ("1K"). An answer that took longer than the timeout and came more
                slowly is given up, so that no object holds a reader for longer than its size says. 0: never.
            read_ahead: memory for what readers will need next ("256M"); 0: nothing is requested early.
            cache: a folder that keeps what was read, True for one in the user's cache folder, False for none.
            cache_limit: size of the cache, such as "20G", needed with a cache. What was not used for the longest
                time goes first.
            cache_check: False trusts the cache without asking the server whether an object has changed.
            s3, gs, http: dicts of settings of S3Store, GCSStore and the client of obstore, such as s3={"endpoint":
            "http://localhost:9000", "region": "eu-west-1", "skip_signature": True}.

    Raises:
        TypeError: There is no such setting.
        ValueError: A setting has a value that it cannot have.

    Example:
        >>> penstock.storage.configure(connections=16, timeout=20.0)
        >>> penstock.storage.configure(connections=32, timeout=30.0)
    """
    for name in settings:
        if name not in _DEFAULTS:
            raise TypeError(f"[storage] there is no setting '{name}'; there are {', '.join(_DEFAULTS)}")
    new = {**_settings, **settings}
    for name in ("timeout", "connect_timeout"):
        if not float(new[name]) > 0:
            raise ValueError(f"[storage] {name} must be positive, got {new[name]!r}")
    bytes_of(new["least_rate"], "least_rate")
    folder = ""
    if new["cache"]:
        folder = (
            os.path.join(_core.default_cache_folder(), "remote") if new["cache"] is True else os.fspath(new["cache"])
        )
        if new["cache_limit"] is None:
            raise ValueError('[storage] a cache needs a limit: cache_limit="20G"')
        if folder == "remote":
            raise ValueError("[storage] there is no cache folder: this user has no home; name one")
    _core.remote_configure(
        int(new["connections"]),
        int(new["tries"]),
        int(float(new["first_pause"]) * 1000),
        bytes_of(new["read_ahead"], "read_ahead"),
        folder,
        bytes_of(new["cache_limit"], "cache_limit") if folder else 0,
        bool(new["cache_check"]),
    )
    _settings.update(new)
    _client.forget()


def connections() -> int:
    """How many requests there may be at once.

    Returns:
        The number that configure() was given last, or 32.

    Example:
        >>> penstock.storage.connections()
        32
    """
    return int(_settings["connections"])


def stats() -> dict[str, int]:
    """Returns what this process has read from remote storage.

    Returns:
        requests, retries, bytes (of objects, received), announced (reads of what was requested early), cache_hits,
        and running (requests that are not answered yet).

    Example:
        >>> penstock.storage.stats()["running"]
        0
    """
    return _core.remote_counts()


def _warn(text):
    warn("storage", text)


def _cause(error):
    """The message of obstore in a few words."""
    text = str(error)
    status = re.search(r"status code: (\d+ ?[^:\n]*)", text)
    if status:
        return f"the server answered {status[1].strip()}"
    for words, meaning in (
        (("Timeout", "TimedOut", "timed out"), "the server stood still"),
        (("IncompleteBody", "UnexpectedEof"), "the answer ended early"),
        (("ConnectionRefused", "Connection refused"), "the connection was refused"),
        (("ConnectionReset", "Connection reset", "IncompleteMessage", "BrokenPipe"), "the connection was broken"),
        (("dns error", "failed to lookup"), "the host's address is not known"),
        (("kind: Connect",), "no connection"),
    ):
        if any(w in text for w in words):
            return meaning
    first = text.split("\n", 1)[0]
    for quoted in (r"^Generic \w+ error: ", r"^Error performing \w+ \S+ in \S+.*? - ", r"^HTTP error: "):
        first = re.sub(quoted, "", first)
    return f"the request failed ({first if len(first) <= 200 else first[:200] + '…'})"


# Texts of obstore's errors for servers that are not object stores.
_FOREIGN_HEADERS = re.compile("last.modified|content.length", re.IGNORECASE)


class _Client:
    """Makes requests with obstore; called by many threads at once. Answers are tuples: None and what came, or a kind
    of failure and its text."""

    def __init__(self):
        self._lock = threading.Lock()
        self._stores = {}
        self._process = None  # the process that made the first store
        self._plain = set()  # hosts whose answers obstore cannot read

    def forget(self):
        with self._lock:
            self._stores = {}
            self._plain = set()

    def _store(self, url, tries=1):
        """The store that knows the URL, and the object's name in it. `tries`: of a request that fails."""
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        if scheme in ("http", "https"):
            if parts.query:  # a signed URL names one object
                return self._made(
                    url, lambda store, options: store.HTTPStore.from_url(url, client_options=options["client"])
                ), ""
            base = f"{scheme}://{parts.netloc}"
            made = self._made(
                base,
                lambda store, options: store.HTTPStore.from_url(
                    base, client_options=options["client"], retry_config=options["retry"]
                ),
            )
            return made, unquote(parts.path.lstrip("/"))
        kinds = {"s3": "S3Store", "s3a": "S3Store", "gs": "GCSStore", "gcs": "GCSStore"}
        if scheme not in kinds:
            raise _Unusable(f"readers know s3://, gs://, http:// and https://, not {parts.scheme}://")
        if not parts.netloc:
            raise _Unusable("the URL names no bucket")
        settings = dict(_settings["s3" if scheme.startswith("s3") else "gs"])
        made = self._made(
            f"{kinds[scheme]}:{parts.netloc}:{tries}",
            lambda store, options: getattr(store, kinds[scheme])(
                parts.netloc, client_options=options["client"], retry_config=options["retry"], **settings
            ),
            tries,
        )
        return made, url.split("://", 1)[1].partition("/")[2]

    def _made(self, key, make, tries=1):
        with self._lock:
            store = self._stores.get(key)
        if store is None or self._process != os.getpid():
            module = _obstore().store
            if self._process not in (
                None,
                os.getpid(),
            ):  # obstore's threads do not exist here: a request would never end
                raise _Unusable('this process was forked from one that reads from remote storage; start it by "spawn"')
            self._process = os.getpid()
            plain_http = _settings["http"].get("allow_http", True)
            options = {
                "client": {
                    "allow_http": plain_http,
                    "read_timeout": f"{_settings['timeout']}s",
                    "timeout": "1d",
                    "connect_timeout": f"{_settings['connect_timeout']}s",
                    **_settings["http"],
                },
                "retry": {
                    "max_retries": tries - 1,
                    "backoff": {"init_backoff": timedelta(seconds=max(0.001, float(_settings["first_pause"])))},
                },
            }
            try:
                store = make(module, options)
            except Exception as e:
                raise _Unusable(str(e).split("\n", 1)[0]) from None
            with self._lock:
                store = self._stores.setdefault(key, store)
                if len(self._stores) > 1024:  # signed URLs, each of its own
                    self._stores = {key: store}
        return store

    def repeated(self, request, url):
        """An answer for callers in Python. obstore itself repeats what failed, so that of a large object only a part is sent
        again."""
        return self._asked(request, url, tries=int(_settings["tries"]))

    def _asked(self, request, url, plain=None, tries=1):
        """`plain`: the same by a request of our own, for web servers whose headers obstore does not take."""
        if plain is not None and urlsplit(url).netloc in self._plain:
            return self._foreign(plain)
        try:
            store, path = self._store(url, tries)
            return request(_obstore(), store, path)
        except _Unusable as e:
            return ("unusable", str(e))
        except FileNotFoundError as e:
            return ("missing", _cause(e))
        except Exception as e:
            kind = _obstore().exceptions
            if isinstance(e, kind.NotModifiedError):
                return ("unchanged", "")
            if isinstance(e, Failed):
                return (e.kind, str(e))
            if plain is not None and _FOREIGN_HEADERS.search(str(e)):
                self._plain.add(urlsplit(url).netloc)
                return self._foreign(plain)
            if isinstance(e, kind.NotSupportedError):
                return (
                    "refused",
                    "the server does not send parts of a file (it knows no Range requests)"
                    if "Range" in str(e)
                    else _cause(e),
                )
            if isinstance(
                e,
                (kind.PermissionDeniedError, kind.UnauthenticatedError, kind.InvalidPathError, kind.PreconditionError),
            ):
                return ("refused", _cause(e))
            if isinstance(e, kind.BaseError):
                return ("refused" if re.search(r"status code: 4(?!08|29)\d\d", str(e)) else "passing", _cause(e))
            raise

    @staticmethod
    def _foreign(request):
        try:
            return request()
        except Failed as e:
            return (e.kind, str(e))

    def head(self, url):
        def plain():
            from . import web_request  # late: few servers need it

            return (None, *web_request.head(url, _settings))

        web = urlsplit(url).scheme.lower() in ("http", "https")
        return self._asked(
            lambda obstore, store, path: (None, *_version(obstore.head(store, path))), url, plain if web else None
        )

    def get(self, url, offset, length, limit, known):
        def request(obstore, store, path):
            options = {}
            if length >= 0:
                options["range"] = (offset, offset + length)
            if known is not None:
                if known[2]:
                    options["if_none_match"] = known[2]
                else:
                    from datetime import datetime, timezone

                    options["if_modified_since"] = datetime.fromtimestamp(known[1] // 10**9, timezone.utc)
            answer = obstore.get(store, path, options=options)
            version = _version(answer.meta)
            if length < 0 and version[0] > limit:
                return ("refused", f"the object has {version[0]} bytes, more than the limit of {limit}")
            if known is not None and version == known:  # the server ignores the condition
                return ("unchanged", "")
            return (None, *version, _received(answer, version[0] if length < 0 else length, url))

        def plain():
            from . import web_request  # late: few servers need it

            body = _core.RemoteBody()
            version = web_request.get(url, offset, length, limit, _settings, body)
            if known is not None and version == tuple(known) and (version[1] or version[2]):
                return ("unchanged", "")
            return (None, *version, body)

        web = urlsplit(url).scheme.lower() in ("http", "https")
        return self._asked(request, url, plain if web else None)

    def list(self, url, tries=1):
        if urlsplit(url).scheme in ("http", "https"):
            return ("refused", "a web server has no list of its files: name them with files= or file_list=")

        def request(obstore, store, path):
            found = []
            with Work(f"list {url}", unit="object") as work:
                for page in obstore.list(store, prefix=path or None, chunk_size=1000):
                    found += [(meta["path"][len(path) :], *_version(meta)) for meta in page]
                    work.add(len(page))
            found.sort(key=lambda e: e[0].encode())
            return (None, found)

        return self._asked(request, url, tries=tries)


class _Unusable(Exception):
    pass


def _received(answer, due, url):
    """The body, which fills its buffer piece by piece as it comes."""
    pace, body = Pace(_settings), _core.RemoteBody(due)
    with download(url, due) as shown:
        for piece in answer.stream(min_chunk_size=1):
            pace.received += len(piece)
            if pace.received > due:
                raise Failed(f"more bytes came than the {due} that were due", "passing")
            body.append(piece)
            shown.add(len(piece))
            pace.judge()
    return body


def _version(meta):
    """(bytes, time of the last change in ns, ETag) of what obstore says about an object."""
    modified = meta["last_modified"]
    seconds = 0 if modified is None else int(modified.timestamp())  # 1970: the server does not say
    if not 0 <= seconds < 1 << 33:  # such as the year 1, which 64 bits of nanoseconds cannot hold
        seconds = 0
    return (meta["size"], seconds * 10**9, meta["e_tag"] or "")


def _obstore():
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError:
        raise _Unusable("reading from remote storage needs the package obstore: pip install obstore") from None
    return obstore


_client = _Client()
