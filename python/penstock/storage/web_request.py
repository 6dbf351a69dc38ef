# SPDX-License-Identifier: Apache-2.0
"""Requests to web servers whose answers obstore does not take: without Content-Length (chunked), or with a Last-Modified
that is not a time of this calendar."""

import email.utils
import functools
import http.client
import io
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request

from .limits import Failed, Pace, download


def head(url, settings):
    """(bytes, time of the last change in ns, ETag); the object is received where the server does not say its size."""
    with _opened(url, settings, "HEAD") as answer:
        size = _length(answer)
        if size >= 0:
            return _version(answer, size)
    return get(url, 0, -1, 1 << 40, settings)


def get(url, offset, length, limit, settings, body=None):
    """The version; the bytes of the range, or of the whole object for length -1, are added to `body`."""
    wanted = {"Range": f"bytes={offset}-{offset + length - 1}"} if length > 0 else {}
    with _opened(url, settings, "GET", wanted) as answer:
        part = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", answer.headers.get("Content-Range") or "")
        if answer.status == 206 and (part is None or int(part[1]) != offset):
            raise Failed("the server sent another part of the file than the requested one")
        whole = answer.status != 206
        most = limit if whole else length
        if _length(answer) > most:
            raise Failed(f"the object has {_length(answer)} bytes, more than the limit of {most}")
        first, end = (offset, offset + length) if whole and length >= 0 else (0, most)  # the part of the body to keep
        if body is not None and _length(answer) > 0:
            body.reserve(max(min(_length(answer), end) - first, 0))
        pace = answer.patience.body()
        try:
            with download(url, _length(answer)) as shown:
                while piece := answer.read1(1 << 18):
                    at, pace.received = pace.received, pace.received + len(piece)
                    if pace.received > most:
                        raise Failed(f"the object has more than the limit of {most} bytes")
                    if body is not None and at < end and pace.received > first:
                        inside = first <= at and pace.received <= end
                        body.append(piece if inside else piece[max(first - at, 0) : end - at])
                    shown.add(len(piece))
        except (OSError, ValueError) as e:
            raise Failed(_cause(e), "passing") from None
        except Exception as e:
            if isinstance(e, Failed):
                raise
            raise Failed("the answer ended early", "passing") from None
        if 0 <= _length(answer) != pace.received:
            raise Failed("the answer ended early", "passing")
    return _version(answer, pace.received if whole else int(part[3]))


class _Patience:
    """How long the next byte of an answer may take: its headers are due as a whole, with those of the redirects before it;
    then the body's pace is judged by all that comes, so that what frames the body cannot hold the reader either."""

    def __init__(self, settings):
        self._settings, self._pace, self._timeout = settings, None, float(settings["timeout"])
        self._end = time.monotonic() + self._timeout

    def body(self):
        self._pace = Pace(self._settings)
        return self._pace

    def seconds(self):
        if self._pace is not None:
            self._pace.judge()
            return self._timeout
        left = self._end - time.monotonic()
        if left <= 0:
            raise Failed(f"the headers of the answer took longer than {self._timeout:g} s", "passing")
        return left


class _Bytes(io.RawIOBase):
    """The bytes of a connection."""

    def __init__(self, connection, patience):
        self._connection, self._patience, self._file = connection, patience, connection.makefile("rb", buffering=0)

    def readable(self):
        return True

    def readinto(self, out):
        self._connection.settimeout(self._patience.seconds())
        return self._file.readinto(out)

    def close(self):
        self._file.close()
        super().close()


def _handlers(patience):
    class Answer(http.client.HTTPResponse):
        def __init__(self, connection, *arguments, **named):
            super().__init__(connection, *arguments, **named)
            self.fp.close()
            self.fp, self.patience = io.BufferedReader(_Bytes(connection, patience)), patience

    class Http(http.client.HTTPConnection):
        response_class = Answer

    class Https(http.client.HTTPSConnection):
        response_class = Answer

    class OpenHttp(urllib.request.HTTPHandler):
        def http_open(self, request):
            return self.do_open(Http, request)

    class OpenHttps(urllib.request.HTTPSHandler):
        def https_open(self, request):
            return self.do_open(Https, request, context=_certificates())

    return OpenHttp(), OpenHttps(context=_certificates())


class _Redirect(urllib.request.HTTPRedirectHandler):
    def http_error_302(self, request, answer, code, text, headers):
        answer.close()  # its body may have no end
        return super().http_error_302(request, io.BytesIO(), code, text, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(self, request, answer, code, text, headers, url):
        new = super().redirect_request(request, answer, code, text, headers, url)
        new.method = request.get_method()
        if urllib.parse.urlsplit(url)[:2] != urllib.parse.urlsplit(request.full_url)[:2]:
            for name in ("Authorization", "Cookie", "Proxy-authorization"):
                new.remove_header(name)
        return new


@functools.lru_cache(1)
def _certificates():
    return ssl.create_default_context()


def _opened(url, settings, method, headers=()):
    request = urllib.request.Request(
        urllib.parse.quote(url, safe="%/:?#[]@!$&'()*+,;=~"),
        method=method,
        headers={"Accept-Encoding": "identity", **settings["http"].get("default_headers", {}), **dict(headers)},
    )
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirect(),
        *_handlers(_Patience(settings)),
    ):
        opener.add_handler(handler)
    try:
        return opener.open(request, timeout=float(settings["timeout"]))
    except urllib.error.HTTPError as e:
        e.close()
        kind = "missing" if e.code in (404, 410) else "passing" if e.code >= 500 or e.code in (408, 429) else "refused"
        raise Failed(f"the server answered {e.code} {e.reason}", kind) from None
    except (OSError, ValueError, http.client.HTTPException) as e:
        raise Failed(_cause(e), "passing") from None


def _cause(error):
    if "timed out" in str(error):
        return "the server stood still"
    reason = getattr(error, "reason", error)
    return f"the request failed ({reason})"


def _length(answer):
    text = answer.headers.get("Content-Length") or ""
    if not re.fullmatch("[0-9]+", text):
        return -1
    return int(text) if len(text) <= 18 else 10**18  # more than any limit


def _version(answer, size):
    seconds = 0  # the server does not say
    text = answer.headers.get("Last-Modified") or ""
    try:
        if re.search(r"\b(19[7-9]\d|2\d\d\d)\b", text):  # of two digits a century would be made up
            seconds = max(0, int(email.utils.parsedate_to_datetime(text).timestamp()))
    except (TypeError, ValueError, OverflowError):
        pass
    if seconds >= 1 << 33:
        seconds = 0
    return size, seconds * 10**9, answer.headers.get("ETag") or ""
