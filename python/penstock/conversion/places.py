# SPDX-License-Identifier: Apache-2.0
"""Files of a data set that is read, in folders or at URLs."""

from __future__ import annotations

import glob
import os
from urllib.parse import urlsplit

from .. import _core
from ..storage.objects import is_bucket


def size_of(path):
    """Returns how many bytes a file has; -1: it is not a file.

    Args:
        path: Its path or URL.
    """
    if "://" in path:
        return _core.remote_size(path)
    return os.path.getsize(path) if os.path.isfile(path) else -1


def _last_part(url):
    path = urlsplit(url).path if is_web(url) else url  # ? is a wildcard elsewhere
    return path.rstrip("/").rpartition("/")[2]


def is_folder(url):
    """Whether a URL is that of a folder: it ends with a slash, or its last part has no ending.

    Args:
        url: The URL.
    """
    return url.endswith("/") or "." not in _last_part(url)


def is_web(url):
    """Whether a URL is that of a web server, which has no list of its files.

    Args:
        url: The URL.
    """
    return url.lower().startswith(("http://", "https://"))


def as_target(path):
    """Returns the folder of a data set that is written: a URL of a bucket ends with a slash.

    Args:
        path: A folder or a URL.

    Raises:
        ValueError: Nothing can be written there.
    """
    if "://" not in path:
        return path
    if not is_bucket(path):
        raise ValueError(f"{path} cannot be written: the target is a folder, or s3:// or gs:// with a bucket")
    return path.rstrip("/") + "/"


def names_in(path):
    """Returns the names that show which format a data set has.

    Args:
        path: A folder, a file, a pattern, or a URL.
    """
    if "://" not in path:
        return sorted(os.listdir(path)) if os.path.isdir(path) else [os.path.basename(path)]
    if not is_folder(path):
        return [_last_part(path)]
    if is_web(path):
        return ["index.json"]  # only MDS says which files it has
    return [url.rpartition("/")[2] for url in _core.remote_matching(f"{path.rstrip('/')}/*")]


def files_of(path, endings):
    """Returns the files of a data set, sorted.

    Args:
        path: A folder, a file, a pattern with * or ?, or a URL.
        endings: Those of the names of files in a folder.

    Raises:
        FileNotFoundError: No file matches.
    """
    if "://" in path:
        pattern = f"{path.rstrip('/')}/*" if is_folder(path) and not is_web(path) else path
        found = _core.remote_matching(pattern)
        found = [url for url in found if url.endswith(endings)] if pattern != path else found
    elif os.path.isdir(path):
        found = [os.path.join(path, name) for name in os.listdir(path) if name.endswith(endings)]
    else:
        found = [path] if os.path.exists(path) else glob.glob(path)
    if not found:
        raise FileNotFoundError(f"there is no file {', '.join('*' + e for e in endings)} in {path}")
    return sorted(found)
