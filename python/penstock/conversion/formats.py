# SPDX-License-Identifier: Apache-2.0
"""The formats: a file of this folder for each, which is found here by its name."""

from __future__ import annotations

import importlib
import os

from .manifest import read_manifest
from .places import names_in

READ = ("folder", "coco", "tar", "tfrecord", "parquet", "mds", "ffcv")
WRITTEN = ("folder", "coco", "tar", "tfrecord", "parquet", "mds")


def _class(name, what):
    module = importlib.import_module(f"{__package__}.{name}")  # late: one format does not load the others
    return getattr(module, name.capitalize() + what)


def source_class(name):
    """Returns the class that reads a format.

    Args:
        name: The format.

    Raises:
        ValueError: There is no such format.
    """
    if name not in READ:
        raise ValueError(f"there is no format {name!r} to read; there are {', '.join(READ)}")
    return _class(name, "Source")


def target_class(name):
    """Returns the class that writes a format.

    Args:
        name: The format.

    Raises:
        ValueError: There is no such format.
    """
    if name not in WRITTEN:
        raise ValueError(f"there is no format {name!r} to write; there are {', '.join(WRITTEN)}")
    return _class(name, "Target")


def format_of(path):
    """Returns the format of a data set, by the names of its files.

    Args:
        path: A folder, a file, a pattern, or a URL.

    Raises:
        FileNotFoundError: There is nothing.
    """
    is_pattern = any(c in path for c in "*?")
    if "://" not in path and not is_pattern and not os.path.exists(path):
        raise FileNotFoundError(f"there is no file or folder {path}")
    names = names_in(path)
    if "index.json" in names:
        return "mds"
    if "annotations.json" in names or (os.path.isfile(path) and path.endswith(".json")):
        return "coco"
    for name in ("tar", "tfrecord", "parquet", "ffcv"):
        if any(n.endswith(source_class(name).endings) for n in names):
            return name
    return "folder"


def open_source(path, format=None, **options):
    """Opens a data set to read it.

    Args:
        path: A folder, a file, a pattern, or a URL.
        format: Its format; None: that of its manifest, or of the names of its files.
        **options: Those of the format.
    """
    path = os.fspath(path)
    manifest = read_manifest(path, absent=("missing", "refused"))
    name = format or (manifest.format if manifest else format_of(path))
    if manifest is not None and manifest.format != name:
        manifest = None
    kind = source_class(name)
    if "://" in path and not kind.has_urls:
        raise ValueError(f"a data set of the format {name} is read from a folder: copy it from {path} first")
    data = kind(path, manifest, **options)
    if options.get("only") is not None:
        data.choose(options["only"])
    return data
