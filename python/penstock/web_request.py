# SPDX-License-Identifier: Apache-2.0
"""Requests to web servers whose answers obstore does not take: without Content-Length (chunked), or with a Last-Modified
that is not a time of this calendar."""
import email.utils
import http.client
import re
import urllib.error
import urllib.parse
import urllib.request

from .storage import Pace


class Failed(Exception):
    """kind: "missing", "refused" or "passing"."""

    def __init__(self, text, kind="refused"):
        super().__init__(text)
        self.kind = kind


def head(url, settings):
    """(bytes, time of the last change in ns, ETag); the object is received where the server does not say its size."""
    with _opened(url, settings, "HEAD") as answer:
        size = _length(answer)
        if size >= 0:
            return _version(answer, size)
    version, _ = get(url, 0, -1, 1 << 40, settings)
    return version


def get(url, offset, length, limit, settings):
    """The version, and the bytes of the range; of the whole object for length -1."""
    wanted = {"Range": f"bytes={offset}-{offset + length - 1}"} if length > 0 else {}
    with _opened(url, settings, "GET", wanted) as answer:
        part = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", answer.headers.get("Content-Range") or "")
        if answer.status == 206 and (part is None or int(part[1]) != offset):
            raise Failed("the server sent another part of the file than was asked for")
        whole = answer.status != 206
        most = limit if whole else length
        if _length(answer) > most:
            raise Failed(f"the object has {_length(answer)} bytes, more than the limit of {most}")
        pace, pieces, received = Pace(settings, lambda text: Failed(text)), [], 0
        try:
            while piece := answer.read1(1 << 18):
                pieces.append(piece)
                received += len(piece)
                if received > most:
                    raise Failed(f"the object has more than the limit of {most} bytes")
                pace.came(len(piece))
        except (OSError, ValueError) as e:
            raise Failed(_cause(e), "passing") from None
        except Exception as e:
            if isinstance(e, Failed):
                raise
            raise Failed("the answer ended early", "passing") from None
        if 0 <= _length(answer) != received:
            raise Failed("the answer ended early", "passing")
    body = b"".join(pieces)
    size = len(body) if whole else int(part[3])
    if whole and length >= 0:
        body = body[offset:offset + length]
    return _version(answer, size), body


def _opened(url, settings, method, headers=()):
    request = urllib.request.Request(urllib.parse.quote(url, safe="%/:?#[]@!$&'()*+,;=~"), method=method, headers={
        "Accept-Encoding": "identity", **settings["http"].get("default_headers", {}), **dict(headers)})
    try:
        return urllib.request.urlopen(request, timeout=float(settings["timeout"]))
    except urllib.error.HTTPError as e:
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
    return int(text) if text.isdigit() else -1


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
