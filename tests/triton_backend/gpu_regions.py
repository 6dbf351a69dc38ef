# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU that a client shares with a server: of a real one through its driver, of the emulated one through the stand-in.

PENSTOCK_TEST_GPU=real takes the real one, as in tests/gpu.
"""

import ctypes
import os
from multiprocessing import shared_memory

from triton_server import ROOT

REAL = os.environ.get("PENSTOCK_TEST_GPU") == "real"


def surroundings(log):
    """Variables of the server's process. On the emulated GPU `log` says what was enqueued."""
    if REAL:
        return {}
    return {
        "PENSTOCK_GPU_LIBRARY": str(ROOT / "build" / "libpenstock_emulated_gpu.so"),
        "PENSTOCK_EMULATED_LOG": str(log),
        "LD_PRELOAD": str(ROOT / "build" / "libstandin_cudart.so"),
    }


class Emulated:
    """Memory of the emulated GPU is the host's; the handle is its name."""

    def __init__(self, size):
        self.memory = shared_memory.SharedMemory(create=True, size=size)
        self.handle = f"/{self.memory.name}".encode().ljust(64, b"\0")

    def write(self, content):
        self.memory.buf[: len(content)] = content

    def read(self, size, offset):
        return bytes(self.memory.buf[offset : offset + size])

    def close(self):
        self.memory.close()
        self.memory.unlink()


class Driver:
    """Calls of the CUDA driver on the first GPU."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        assert status == 0, f"{name} returned {status}"


class Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class Real:
    driver = None

    def __init__(self, size):
        Real.driver = Real.driver or Driver()
        self.at, handle = ctypes.c_uint64(), Handle()
        self.driver("cuMemAlloc_v2", ctypes.byref(self.at), ctypes.c_size_t(size))
        self.driver("cuIpcGetMemHandle", ctypes.byref(handle), self.at)
        self.handle = bytes(handle.reserved)

    def write(self, content):
        self.driver("cuMemcpyHtoD_v2", self.at, bytes(content), ctypes.c_size_t(len(content)))

    def read(self, size, offset):
        content = ctypes.create_string_buffer(size)
        self.driver("cuMemcpyDtoH_v2", content, ctypes.c_uint64(self.at.value + offset), ctypes.c_size_t(size))
        return content.raw

    def close(self):
        self.driver("cuMemFree_v2", self.at)


Region = Real if REAL else Emulated
