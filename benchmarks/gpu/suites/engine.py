# SPDX-License-Identifier: Apache-2.0
"""nvJPEG's hardware engine by itself, called through ctypes: what feeds it best, and in which order it writes.

Its figures are the ceiling of the decode suite, and the reasons of src/cuda/decode/nvjpeg_decoder.h.
"""

import ctypes
import glob
import os
import statistics
import time

import measure
import torch

HARDWARE, RGBI, BGRI, Y = 3, 5, 6, 2


class Image(ctypes.Structure):
    _fields_ = [("plane", ctypes.c_void_p * 4), ("pitch", ctypes.c_size_t * 4)]


def load():
    folders = [f for f in os.environ.get("PENSTOCK_NVIDIA_LIBS", "").split(":") if f]
    for name in [os.path.join(f, "libnvjpeg.so.13") for f in folders] + ["libnvjpeg.so.13"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise OSError("libnvjpeg.so.13 was not found")


class Group:
    """Files, their memory on the host and on the device, and a state of the engine."""

    def __init__(self, library, handle, files, sizes, pinned, output=RGBI):
        self.library, self.handle, self.count, self.output = library, handle, len(files), output
        total = sum(len(f) + 256 for f in files)
        self.host = torch.empty(total, dtype=torch.uint8, pin_memory=pinned)
        self.pointers, self.lengths = (ctypes.c_void_p * self.count)(), (ctypes.c_size_t * self.count)()
        self.images, at, out = (Image * self.count)(), 0, 0
        channels = 1 if output == Y else 3
        self.pixels = torch.zeros(
            sum(-(-h * w * channels // 512) * 512 for h, w in sizes), dtype=torch.uint8, device="cuda"
        )
        for i, (file, (h, w)) in enumerate(zip(files, sizes)):
            self.host[at : at + len(file)] = torch.frombuffer(bytearray(file), dtype=torch.uint8)
            self.pointers[i], self.lengths[i] = self.host.data_ptr() + at, len(file)
            self.images[i].plane[0], self.images[i].pitch[0] = self.pixels.data_ptr() + out, w * channels
            at += -(-len(file) // 256) * 256
            out += -(-h * w * channels // 512) * 512
        self.state = ctypes.c_void_p()
        self.check(library.nvjpegJpegStateCreate(handle, ctypes.byref(self.state)))
        self.prepare()

    def prepare(self, count=None):
        self.check(
            self.library.nvjpegDecodeBatchedInitialize(self.handle, self.state, count or self.count, 1, self.output)
        )

    def decode(self, stream):
        self.check(
            self.library.nvjpegDecodeBatched(
                self.handle, self.state, self.pointers, self.lengths, self.images, ctypes.c_void_p(stream.cuda_stream)
            )
        )

    @staticmethod
    def check(status):
        if status:
            raise RuntimeError(f"nvJPEG status {status}")


def size_of(file):
    """Height and width, from the frame header."""
    at = 2
    while True:
        marker, length = file[at + 1], int.from_bytes(file[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xC2:
            return int.from_bytes(file[at + 5 : at + 7], "big"), int.from_bytes(file[at + 7 : at + 9], "big")
        at += 2 + length


def rate_of(groups, stream, seconds, wait_each):
    """Images and compressed bytes a second; two groups: one is submitted while the other decodes."""
    events = [torch.cuda.Event() for _ in groups]
    for group in groups * 2:
        group.decode(stream)
        torch.cuda.synchronize()
    cpu, begin, n = measure.cpu_seconds(), time.perf_counter(), 0
    submitted = 0.0
    while time.perf_counter() - begin < seconds:
        which = n % len(groups)
        if n >= len(groups):
            events[which].synchronize()
        start = time.perf_counter()
        groups[which].decode(stream)
        submitted += time.perf_counter() - start
        events[which].record(stream)
        if wait_each:
            stream.synchronize()
        n += 1
    stream.synchronize()
    wall = time.perf_counter() - begin
    done = n * groups[0].count
    return {
        "rate": done / wall,
        "cores": (measure.cpu_seconds() - cpu) / wall,
        "submit_ms": submitted / n * 1e3,
        "GB_s": n * sum(groups[0].lengths) / wall / 1e9,
    }


def orders(group, stream):
    """Does it write before what is on the stream is done, and does the stream wait for it afterwards?"""
    big = torch.empty(1 << 28, dtype=torch.float32, device="cuda")
    group.decode(stream)
    torch.cuda.synchronize()
    right = group.pixels.clone()
    early = late = 0
    for _ in range(10):
        with torch.cuda.stream(stream):
            group.pixels.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            for _ in range(40):
                big.add_(1.0)
            before = group.pixels.clone()  # all zero, if the engine waits for the stream
        group.decode(stream)
        torch.cuda.synchronize()
        early += int(before.any().item())
        with torch.cuda.stream(stream):
            group.pixels.zero_()
        stream.synchronize()
        group.decode(stream)
        with torch.cuda.stream(stream):
            after = group.pixels.clone()
        torch.cuda.synchronize()
        late += int(not torch.equal(after, right))
    return early, late


def tables(settings):
    if not measure.CUDA:
        return
    library = load()
    handle = ctypes.c_void_p()
    Group.check(library.nvjpegCreateEx(HARDWARE, None, None, 0, ctypes.byref(handle)))
    paths = sorted(glob.glob(os.path.join(settings.files("imagenet"), "*", "*.jpg")))[:1024]
    files = [open(p, "rb").read() for p in paths]
    sizes = [size_of(f) for f in files]
    stream = torch.cuda.Stream()
    rows, failed = [], {}
    for count, states, pinned, wait_each in (
        (256, 1, False, True),
        (256, 1, True, True),
        (256, 2, False, False),
        (256, 2, True, False),
        (512, 2, True, False),
        (1024, 1, True, True),
        (1024, 2, False, False),
        (1024, 2, True, False),
    ):
        name = f"{count} images, {states} state(s), {'pinned' if pinned else 'pageable'}, {'waits for each' if wait_each else 'one ahead'}"
        try:
            groups = [Group(library, handle, files[:count], sizes[:count], pinned) for _ in range(states)]
            rows.append({"method": name, **rate_of(groups, stream, settings.seconds, wait_each)})
            rows[-1]["note"] = f"submit {rows[-1]['submit_ms']:.2f} ms a call, {rows[-1]['GB_s']:.2f} GB/s"
        except Exception as error:
            failed[name] = str(error)
    group = Group(library, handle, files[:256], sizes[:256], True)
    times = []
    for count in (255, 256, 250, 256):
        begin = time.perf_counter()
        group.prepare(count)
        times.append((time.perf_counter() - begin) * 1e3)
    rows.append({"method": "preparing another size of batch", "note": f"{statistics.median(times):.3f} ms"})
    group.prepare(256)
    early, late = orders(group, stream)
    rows.append(
        {
            "method": "order",
            "note": f"wrote before the stream came to it: {early} of 10; stream went on before it had "
            f"written: {late} of 10",
        }
    )
    for name, output in (("BGR", BGRI), ("luma", Y)):
        try:
            other = Group(library, handle, files[:64], sizes[:64], True, output)
            other.decode(stream)
            stream.synchronize()
            rows.append({"method": f"output {name}", "note": f"works, mean {other.pixels.float().mean().item():.1f}"})
        except Exception as error:
            failed[f"output {name}"] = str(error)
    row = measure.trace(lambda: (group.decode(stream), stream.synchronize()), 4)
    rows.append(
        {
            "method": "a traced group of 256",
            "kernels": row["kernels"],
            "copies": row["copies"],
            "kernel_us": row["kernel_us"],
            "note": str(row["top"][:3]) + str(row["host_calls"]),
        }
    )
    yield {
        "title": "nvJPEG's hardware engine by itself, RGB interleaved",
        "unit": "img/s",
        "rows": rows,
        "failed": failed,
        "targets": [],
    }
