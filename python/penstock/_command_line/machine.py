# SPDX-License-Identifier: Apache-2.0
"""What a machine has: read of the system's files, below a folder that tests may make."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re

from .. import _core

_UNLIMITED = 1 << 60  # what cgroups of version 1 call no limit is a number near 2^63


def _cuda_version():
    """The newest CUDA that the driver takes, as 12040 for 12.4; 0: there is no driver."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
        version = ctypes.c_int(0)
        return version.value if library.cuDriverGetVersion(ctypes.byref(version)) == 0 else 0
    except (OSError, AttributeError):
        return 0


class Machine:
    """Answers what the checks ask.

    Args:
        root: The folder that stands for "/".
        core: What the library says of itself; tests give their own.
        find: Finds a Python module, as importlib.util.find_spec does.
        cuda_version: Returns the newest CUDA that the driver takes.
        filesystem: Says how large a file system is, as os.statvfs does.
    """

    def __init__(
        self, root="/", core=_core, find=importlib.util.find_spec, cuda_version=_cuda_version, filesystem=os.statvfs
    ):
        self.root, self.core, self.cuda_version = root, core, cuda_version
        self._find, self._filesystem = find, filesystem

    def read(self, path):
        """Returns the text of a file of the system, "" where there is none."""
        try:
            with open(self.at(path), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def at(self, path):
        """Returns where a file of the system lies."""
        return os.path.join(self.root, path.lstrip("/"))

    def has_module(self, name):
        """Returns whether Python finds a module."""
        try:
            return self._find(name) is not None
        except (ImportError, ValueError):
            return False

    def processor(self):
        """Returns the name of the processor, "" where the system does not say it."""
        found = re.search(r"^model name\s*:\s*(.*)$", self.read("/proc/cpuinfo"), re.MULTILINE)
        return found.group(1).strip() if found else ""

    def cores(self):
        """Returns the number of cores of the machine, whoever may use them; 0: not known."""
        return len(re.findall(r"^processor\s*:", self.read("/proc/cpuinfo"), re.MULTILINE))

    def memory(self):
        """Returns (bytes of the machine, bytes that the cgroup allows or None)."""
        found = re.search(r"^MemTotal:\s*(\d+) kB", self.read("/proc/meminfo"), re.MULTILINE)
        total = int(found.group(1)) * 1024 if found else 0
        for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            text = self.read(path).strip()
            if text.isdigit() and int(text) < _UNLIMITED:
                return total, int(text)
        return total, None

    def shared_memory(self):
        """Returns (bytes of /dev/shm, bytes of it that are free), None where there is none."""
        try:
            found = self._filesystem(self.at("/dev/shm"))
        except OSError:
            return None
        return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize

    def driver_release(self):
        """Returns the number of NVIDIA's driver, as "570.86.10"; "" where there is none."""
        found = re.search(r"NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s", self.read("/proc/driver/nvidia/version"))
        return found.group(1) if found else ""

    def packages_by(self):
        """Returns the program that installs packages of the system: "apt", "dnf", "apk", "pacman" or ""."""
        names = " ".join(re.findall(r'^ID(?:_LIKE)?="?([^"\n]*)', self.read("/etc/os-release"), re.MULTILINE)).split()
        kinds = {"debian": "apt", "ubuntu": "apt", "fedora": "dnf", "rhel": "dnf", "alpine": "apk", "arch": "pacman"}
        return next((kinds[name] for name in names if name in kinds), "")
