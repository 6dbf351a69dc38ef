# SPDX-License-Identifier: Apache-2.0
"""Where a data set lies: the kind of its disk, its size, and how much of it the page cache has."""

from __future__ import annotations

import ctypes
import mmap
import os

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "gpfs", "glusterfs", "9p", "afs", "beegfs"}
_MEMORY = {"tmpfs", "ramfs"}
_MOST_FILES = 200_000  # a data set may have millions; these are enough to say how large it is
_SAMPLED = 64  # files whose pages are counted


def _unescaped(text):
    """A path of mountinfo, where a space is \\040."""
    return text.encode().decode("unicode_escape")


def mount_of(machine, path):
    """Returns (type of the file system, device "8:1") of the mount that a path is on."""
    best, found = "", ("", "")
    for line in machine.read("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = _unescaped(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, (after.split()[0], fields[2])
    return found


def kind_of(machine, path):
    """Returns the kind of disk a path is on: "network", "memory", "disk that turns", "solid-state disk" or ""."""
    system, device = mount_of(machine, os.path.realpath(path))
    if system in _NETWORK or system.startswith("fuse."):
        return f"network ({system})"
    if system in _MEMORY:
        return f"memory ({system})"
    folder = f"/sys/dev/block/{device}"
    for place in ("/queue/rotational", "/../queue/rotational"):  # a partition has none of its own
        text = machine.read(folder + place).strip()
        if text:
            return f"{'disk that turns' if text == '1' else 'solid-state disk'} ({system})"
    return system


def files_of(path):
    """Returns ([(file, bytes)], whether that is all of them)."""
    if os.path.isfile(path):
        return [(path, os.path.getsize(path))], True
    found = []
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.path.join(folder, name)
            try:
                found.append((file, os.path.getsize(file)))
            except OSError:
                continue
            if len(found) >= _MOST_FILES:
                return found, False
    return found, True


def cached_share(files):
    """Returns the share of the bytes of some of the files that the page cache has; None: the system does not say.

    Args:
        files: (file, bytes) of each.
    """
    chosen = [f for f in files if f[1] > 0]
    chosen = chosen[:: max(1, len(chosen) // _SAMPLED)][:_SAMPLED]
    pages = there = 0
    for file, size in chosen:
        counted = _pages_in_memory(file, size)
        if counted is None:
            return None
        there, pages = there + counted[0], pages + counted[1]
    return there / pages if pages else None


def _pages_in_memory(file, size):
    """(pages of the file in memory, all its pages). libc is called because mmap objects do not say their address."""
    number = -(-size // mmap.PAGESIZE)
    states = (ctypes.c_ubyte * number)()
    try:
        libc = ctypes.CDLL(None)
        libc.mmap.restype, length = ctypes.c_void_p, ctypes.c_size_t(size)
        with open(file, "rb") as opened:
            address = libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, opened.fileno(), ctypes.c_long(0))
        if address is None or address == ctypes.c_void_p(-1).value:
            return None
        address = ctypes.c_void_p(address)
        counted = libc.mincore(address, length, states) == 0
        libc.munmap(address, length)
    except (OSError, AttributeError):
        return None
    return (sum(state & 1 for state in states), number) if counted else None
