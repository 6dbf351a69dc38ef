# SPDX-License-Identifier: Apache-2.0
"""The checks of `penstock doctor`: each looks at one thing and judges it."""

from __future__ import annotations

import os
import platform

from .._settings import setting
from . import disks
from .advice import install_codec, install_extra, install_python

OLDEST_CUDA, OLDEST_DRIVER = 12000, "525"
_MANY_BYTES = 1 << 30  # of /dev/shm: a few batches of each worker process


class Finding:
    """What a check found.

    Args:
        name: What was looked at.
        state: "ok"; "note": it works, and this should be known; "missing": it cannot be used.
        found: What is there, or why nothing is.
        fix: The command, or the change, that helps; "" where nothing must be done.
        uses: The words of --for that need it.
    """

    def __init__(self, name, state, found, fix="", uses=()):
        self.name, self.state, self.found, self.fix, self.uses = name, state, found, fix, tuple(uses)

    def as_dict(self):
        """Returns the finding for JSON."""
        return {"name": self.name, "state": self.state, "found": self.found, "fix": self.fix, "for": list(self.uses)}


def size_text(number):
    """Returns a number of bytes as people write it."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return f"{number} bytes"


def processor(machine):
    """The instruction set that loops run with, and the cores that the process may use."""
    target, name = machine.core.cpu_target(), machine.processor() or platform.machine()
    wished = setting("PENSTOCK_TARGET")
    if wished:
        yield Finding("processor", "note", f"{name}: {target}, PENSTOCK_TARGET={wished}", "unset PENSTOCK_TARGET")
    elif target == "scalar":
        yield Finding("processor", "note", f"{name}: no AVX2; pixel operators take several times as long")
    else:
        yield Finding("processor", "ok", f"{name}: {target}")
    usable, all_of_them = machine.core.usable_cores(), machine.cores()
    if usable < all_of_them:
        yield Finding(
            "cores",
            "note",
            f"{usable} of the machine's {all_of_them}: the affinity or the cgroup's quota allows no more; "
            "num_threads=None takes as many",
            "give the container or the job more (docker run --cpus=N, srun --cpus-per-task=N)",
        )
    else:
        yield Finding("cores", "ok", f"{usable}")


def memory(machine):
    """The memory that the process may take, and the shared memory of worker processes."""
    total, limit = machine.memory()
    if limit is not None and limit < total:
        yield Finding("memory", "note", f"{size_text(limit)} of the machine's {size_text(total)}: the cgroup's limit")
    else:
        yield Finding("memory", "ok", size_text(total) if total else "the system does not say")
    shared = machine.shared_memory()
    if shared is None:
        yield Finding("/dev/shm", "missing", "there is none", "mount -t tmpfs tmpfs /dev/shm", ("workers",))
    elif shared[0] < _MANY_BYTES:
        yield Finding(
            "/dev/shm",
            "missing",
            f"{size_text(shared[0])}: worker processes (parallel=True, py_num_workers) hand their batches over in it",
            "docker run --shm-size=8g, or --ipc=host",
            ("workers",),
        )
    else:
        yield Finding("/dev/shm", "ok", f"{size_text(shared[0])}, {size_text(shared[1])} of it free", "", ("workers",))


def storage(machine, path):
    """The disk of a data set, and whether the page cache can hold it.

    Args:
        path: A file or a folder.
    """
    if not os.path.exists(path):
        yield Finding(f"data {path}", "missing", "there is no such file or folder", "", ("data",))
        return
    kind = disks.kind_of(machine, path)
    files, whole = disks.files_of(path)
    size = sum(n for _, n in files)
    total, limit = machine.memory()
    room = min(limit or total, total) or total
    cached = disks.cached_share(files)
    text = (
        f"{kind or 'a disk of an unknown kind'}; {'' if whole else 'more than '}{len(files)} files, {size_text(size)}"
    )
    if cached is not None:
        text += f", {100 * cached:.0f} % in the page cache"
    if not whole or size > room * 0.8:
        slow = kind.startswith(("network", "disk that turns"))
        fix = "read it from a solid-state disk of the machine" if slow else ""
        yield Finding(
            f"data {path}", "note", f"{text}: more than memory holds, each epoch reads the disk", fix, ("data",)
        )
    else:
        yield Finding(
            f"data {path}", "ok", f"{text}; fits into memory: later epochs do not read the disk", "", ("data",)
        )


def gpu(machine):
    """The driver, the GPUs and the compiler of kernels."""
    version, release = machine.cuda_version(), machine.driver_release()
    named = f"{release + ', ' if release else ''}CUDA {version // 1000}.{version % 1000 // 10}"
    driver = f"install NVIDIA's driver {OLDEST_DRIVER} or newer (https://www.nvidia.com/drivers)"
    in_container = "; in a container: docker run --gpus all, with NVIDIA's container toolkit on the host"
    if not version:
        yield Finding(
            "driver", "missing", "libcuda.so.1 cannot be loaded, or does not work", driver + in_container, ("gpu",)
        )
    elif version < OLDEST_CUDA:
        yield Finding("driver", "missing", f"{named}: too old", driver, ("gpu",))
    else:
        yield Finding("driver", "ok", named, "", ("gpu",))
    why = machine.core.gpu_why_not()
    if why:
        yield Finding("GPU", "missing", why, "" if version else driver, ("gpu",))
    for device in range(machine.core.gpu_count()):
        yield Finding(f"GPU {device}", "ok", machine.core.gpu_name(device), "", ("gpu",))
    compiler = machine.core.gpu_kernel_compiler()
    fix = install_extra("cuda12" if OLDEST_CUDA <= version < 13000 else "cuda13")
    good = compiler.startswith("NVRTC ") and "/" in compiler and not why
    if good:
        yield Finding("kernel compiler", "ok", compiler, "", ("gpu",))
    elif why:  # nothing would be compiled
        yield Finding("kernel compiler", "note", "not looked at without a GPU")
    else:
        yield Finding("kernel compiler", "missing", compiler, fix, ("gpu",))
    if not why:
        yield Finding("files to the GPU", "ok", machine.core.gpu_direct_storage())


_USES_OF_CODECS = {
    "FFmpeg": ("video",),
    "AVIF": ("avif",),
    "HEIC": ("heic",),
    "JPEG XL": ("jxl",),
    "OpenEXR": ("exr",),
    "MP3": ("mp3",),
    "MP3 encoder": ("mp3-encoder",),
}


def codecs(machine):
    """The libraries of codecs that are loaded at run time."""
    for name, version, why in machine.core.runtime_codecs():
        uses = _USES_OF_CODECS[name]
        if why:
            yield Finding(name, "missing", why, install_codec(machine, name, why), uses)
        else:
            yield Finding(name, "ok", version or "found", "", uses)


_MODULES = {  # what Python's packages are for
    "numpy": ("numpy", "arrays"),
    "PIL": ("pictures", "show() and pictures of batches"),
    "obstore": ("remote", "s3://, gs:// and https:// URLs"),
    "torch": ("torch", "penstock.torch"),
    "pyarrow": ("parquet", "tables in Parquet files"),
    "h5py": ("hdf5", "HDF5 files"),
    "zarr": ("zarr", "Zarr arrays"),
    "nibabel": ("nifti", "NIfTI files"),
    "pydicom": ("dicom", "DICOM files"),
}
_NAMES_OF_PACKAGES = {"PIL": "pillow"}


def modules(machine):
    """The packages of Python that parts of Penstock use."""
    for name, (use, what) in _MODULES.items():
        if machine.has_module(name):
            yield Finding(name, "ok", f"found, for {what}", "", (use,))
        else:
            fix = (
                install_extra(use)
                if use in ("pictures", "remote")
                else install_python(_NAMES_OF_PACKAGES.get(name, name))
            )
            yield Finding(name, "missing", f"not installed; it is for {what}", fix, (use,))


def package():
    """This installation."""
    from .. import __version__, _core

    folder = os.path.dirname(os.path.abspath(_core.__file__))
    yield Finding("penstock", "ok", f"{__version__}, Python {platform.python_version()}, {folder}")


def findings(machine, paths=()):
    """Yields all findings in the order in which they are shown.

    Args:
        machine: The machine.
        paths: Data sets to look at.
    """
    yield from package()
    yield from processor(machine)
    yield from memory(machine)
    for path in paths:
        yield from storage(machine, path)
    yield from gpu(machine)
    yield from codecs(machine)
    yield from modules(machine)


# The words of --for, and what each stands for.
USES = {
    "gpu": "a GPU, its driver and a compiler of kernels",
    "video": "videos (FFmpeg)",
    "avif": "AVIF files (libheif)",
    "heic": "HEIC files (libheif)",
    "jxl": "JPEG XL files (libjxl)",
    "exr": "OpenEXR files (OpenEXR 3.1)",
    "mp3": "MP3 files (libmpg123)",
    "mp3-encoder": "fn.audio_codec with MP3 (libmp3lame)",
    "workers": "worker processes (/dev/shm)",
    "data": "the paths of --data",
    **{use: what for use, what in _MODULES.values()},
}
