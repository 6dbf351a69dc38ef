# SPDX-License-Identifier: Apache-2.0
"""The commands that install what is missing, for the system that the machine has."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import sys

# name: packages by the program that installs them; "" stands for what cannot be said in one command
_PACKAGES = {
    "FFmpeg": {"apt": "ffmpeg", "dnf": "ffmpeg-free", "apk": "ffmpeg-libs", "pacman": "ffmpeg"},
    "AVIF": {"apt": "libheif1", "dnf": "libheif", "apk": "libheif", "pacman": "libheif"},
    "HEIC": {"apt": "libheif1", "dnf": "libheif", "apk": "libheif", "pacman": "libheif"},
    "JPEG XL": {"apt": "libjxl0.7", "dnf": "libjxl", "apk": "libjxl", "pacman": "libjxl"},
    "OpenEXR": {
        "apt": "libopenexr-3-1-30",
        "dnf": "openexr-libs",
        "apk": "openexr-libopenexrcore",
        "pacman": "openexr",
    },
    "MP3": {"apt": "libmpg123-0", "dnf": "mpg123-libs", "apk": "mpg123-libs", "pacman": "mpg123"},
    "MP3 encoder": {"apt": "libmp3lame0", "dnf": "lame-libs", "apk": "lame-libs", "pacman": "lame"},
}
# What libheif says when it is there and has no decoder: the plug-in is a package of its own.
_PLUGINS = {"AVIF": "libheif-plugin-dav1d", "HEIC": "libheif-plugin-libde265"}
_COMMANDS = {"apt": "apt-get install -y", "dnf": "dnf install -y", "apk": "apk add", "pacman": "pacman -S"}


def install_codec(machine, name, why):
    """Returns the command that installs a codec of the system.

    Args:
        machine: The machine.
        name: The name that the library has for it.
        why: Why it cannot be used.
    """
    kind = machine.packages_by() or "apt"
    package = _PACKAGES[name][kind]
    if kind == "apt" and "decoder in libheif" in why:
        package = _PLUGINS[name]
    return f"{_COMMANDS[kind]} {package}"


def install_extra(extra):
    """Returns the command that installs what an extra of the package names.

    Args:
        extra: "cuda13", "remote" ...
    """
    try:
        needed = importlib.metadata.requires("penstock") or []
    except importlib.metadata.PackageNotFoundError:  # the source tree, not installed
        needed = []
    wanted = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    names = [line.split(";")[0].strip() for line in needed if wanted.search(line)]
    return install_python(*(names or [f"penstock[{extra}]"]))


def install_python(*packages):
    """Returns the command that installs packages into this Python.

    Args:
        *packages: Their names.
    """
    return shlex.join([sys.executable or "python3", "-m", "pip", "install", *packages])
