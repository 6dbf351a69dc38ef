# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile JPEG files, each determined by its number: the same on every machine that has the same encoder.

    python mutations.py COUNT [FIRST] | mutated_jpegs      what decodes them on the host's kernels (decode_on_host.cpp)

Written to the standard output: for each file a byte ('g' whole, 'm' damaged), 4 bytes of its length and the file. One in
four is whole.
"""

import functools
import io
import random
import struct
import sys

import numpy as np
from PIL import Image

SAMPLINGS = {"444": 0, "422": 1, "420": 2, "440": 1, "gray": None}


def encode(number):
    """Small photographs of every sampling, with and without restart markers, with tables of their own."""
    rng = np.random.default_rng(number)
    sampling = list(SAMPLINGS)[number % len(SAMPLINGS)]
    height, width = 17 + 5 * number % 40, 24 + 11 * number % 50
    if sampling == "440":  # as many MCUs in a column as in a row: the encoder has no such sampling
        height = width = 16 * (1 + number % 4)
    y, x = np.mgrid[:height, :width]
    waves = np.stack([128 + 100 * np.sin(x / (3 + c + number % 5) + y / (7 - c)) for c in range(3)], -1)
    noise = rng.normal(0, 0 if number % 6 == 5 else 25, waves.shape)
    image = Image.fromarray(np.clip(waves + noise, 0, 255).astype(np.uint8))
    how = dict(quality=35 + 17 * number % 64, optimize=number % 3 == 1)
    if number % 4 == 2:
        how["restart_marker_blocks"] = 1 + number % 5
    if sampling == "gray":
        image = image.convert("L")
    else:
        how["subsampling"] = SAMPLINGS[sampling]
    out = io.BytesIO()
    image.save(out, "JPEG", **how)
    data = bytearray(out.getvalue())
    if sampling == "440":
        frame = next(at for marker, at, _ in segments(data) if marker == 0xC0)
        data[frame + 11] = 0x12
    return bytes(data)


@functools.cache
def whole_files():
    return [encode(number) for number in range(30)]


def segments(data):
    """(marker, place, length with the marker) of what comes before the scan, including its header."""
    found, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        length = 2 + struct.unpack_from(">H", data, at + 2)[0]
        if length < 4 or at + length > len(data):
            break
        found.append((data[at + 1], at, length))
        at += length
        if found[-1][0] == 0xDA:
            break
    return found


def scan_of(data):
    parts = segments(data)
    return min(len(data) - 1, parts[-1][1] + parts[-1][2]) if parts else 2


def flip(data, r, first, last):
    for _ in range(r.choice((1, 1, 2, 4, 16))):
        if last > first:
            data[r.randrange(first, last)] ^= 1 << r.randrange(8)


def cut(data, r):
    del data[r.randrange(2, len(data)) :]


def flip_header(data, r):
    flip(data, r, 2, scan_of(data))


def flip_tables(data, r):
    tables = [s for s in segments(data) if s[0] in (0xC4, 0xDB)]
    if tables:
        _, at, length = r.choice(tables)
        flip(data, r, at + 4, min(len(data), at + length))


def flip_scan(data, r):
    flip(data, r, scan_of(data), len(data))


def overwrite_scan(data, r):
    first = scan_of(data)
    at, length = r.randrange(first, len(data)), r.choice((1, 2, 3, 8, 40, 400))
    fill = r.choice(
        (b"\x00", b"\xff", b"\xff\x00", b"\xaa", bytes([r.randrange(256)]), r.randbytes(37), b"\x00\x00\x03")
    )
    end = min(len(data), at + length)
    data[at:end] = (fill * (length // len(fill) + 1))[: end - at]


def replace_scan(data, r):
    """All of it: bits that never synchronize, or noise."""
    first = scan_of(data)
    length = r.choice((len(data) - first, 2, 3000))
    kind = r.randrange(4)
    body = (
        bytes([r.randrange(255)]) * length
        if kind == 0
        else r.randbytes(length)
        if kind == 1
        else r.randbytes(3) * (length // 3)
        if kind == 2
        else b"\xff\x00" * (length // 2)
    )
    if kind != 3:
        body = body.replace(b"\xff", b"\xfe")
    data[first:] = body + r.choice((b"\xff\xd9", b"", b"\xff", b"\xff\xd8"))


def wrong_length(data, r):
    _, at, length = r.choice(segments(data))
    wrong = r.choice((0, 1, 2, 3, length - 3, length - 1, length + r.randrange(200), 0xFFFF, r.randrange(65536)))
    struct.pack_into(">H", data, at + 2, max(0, min(65535, wrong)))


def swap_segments(data, r):
    parts = segments(data)
    if len(parts) > 1:
        (_, a, n), (_, b, m) = sorted(r.sample(parts, 2), key=lambda s: s[1])
        data[a : b + m] = data[b : b + m] + data[a + n : b] + data[a : a + n]


def drop_or_double_segment(data, r):
    _, at, length = r.choice(segments(data))
    part = bytes(data[at : at + length])
    data[at : at + length] = r.choice((b"", part + part))


def restart_markers(data, r):
    """Renumbered, removed, doubled, or put where none should be."""
    first = scan_of(data)
    there = [at for at in range(first, len(data) - 1) if data[at] == 0xFF and 0xD0 <= data[at + 1] <= 0xD7]
    kind = r.randrange(5)
    if not there or kind == 0:
        at = r.randrange(first, len(data))
        data[at:at] = bytes((0xFF, 0xD0 + r.randrange(10)))
    elif kind == 1:
        data[r.choice(there) + 1] = 0xD0 + r.randrange(8)
    elif kind == 2:
        at = r.choice(there)
        del data[at : at + r.choice((1, 2))]
    elif kind == 3 and len(there) > 1:
        a, b = r.sample(there, 2)
        data[a + 1], data[b + 1] = data[b + 1], data[a + 1]
    else:
        at = r.choice(there)
        data[at:at] = data[at : at + 2]


def restart_interval(data, r):
    interval = r.choice((0, 1, 2, 3, 100, 65535))
    body = b"\xff\xdd\x00\x04" + struct.pack(">H", interval)
    parts = segments(data)
    known = [s for s in parts if s[0] == 0xDD]
    _, at, length = known[0] if known else parts[-1]
    data[at : at + (length if known else 0)] = body


def hostile_size(data, r):
    frames = [s for s in segments(data) if s[0] == 0xC0]
    if not frames:
        return
    at = frames[0][1]
    if at + 19 > len(data):
        return
    kind = r.randrange(4)
    if kind <= 1:
        struct.pack_into(
            ">H", data, at + 5 + 2 * r.randrange(2), r.choice((0, 1, 7, 8, 9, 33, 200, 1000, 65500, 65535))
        )
    elif kind == 2:
        struct.pack_into(">HH", data, at + 5, r.randrange(1, 400), r.randrange(1, 400))
    else:
        data[at + 11 + 3 * r.randrange(max(1, min(3, data[at + 9])))] = r.choice(
            (0x11, 0x12, 0x21, 0x22, 0x14, 0x41, 0x00, 0x33)
        )


def shift_in_scan(data, r):
    at, count = r.randrange(scan_of(data), len(data)), r.choice((1, 1, 2, 5, 33))
    if r.randrange(2):
        del data[at : at + count]
    else:
        data[at:at] = r.randbytes(count).replace(b"\xff", b"\xfe")


def other_codes(data, r):
    """A Huffman table that is legal and wrong: values exchanged, or codes made longer."""
    tables = [s for s in segments(data) if s[0] == 0xC4]
    tables = [s for s in tables if s[2] > 24]
    if not tables:
        return
    _, at, length = r.choice(tables)
    counts, values = at + 5, at + 21
    if r.randrange(2):
        a, b = r.randrange(values, at + length), r.randrange(values, at + length)
        data[a], data[b] = data[b], data[a]
    else:
        there = [k for k in range(15) if data[counts + k]]
        if there:
            k = r.choice(there)
            data[counts + k] -= 1
            longer = counts + r.randrange(k + 1, 16)
            data[longer] = min(255, data[longer] + 1)


def other_scan(data, r):
    other = r.choice(whole_files())
    data[scan_of(data) :] = other[scan_of(other) :]


KINDS = (
    cut,
    flip_header,
    flip_tables,
    flip_scan,
    flip_scan,
    overwrite_scan,
    replace_scan,
    wrong_length,
    swap_segments,
    drop_or_double_segment,
    restart_markers,
    restart_markers,
    restart_interval,
    hostile_size,
    shift_in_scan,
    other_codes,
    other_scan,
)


def mutated(number):
    r = random.Random(number)
    data = bytearray(r.choice(whole_files()))
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        if len(data) > 30 and segments(data):
            r.choice(KINDS)(data, r)
    return bytes(data)


def files(count, first=0):
    """(whether it is whole, the file), `count` of them."""
    for number in range(first, first + count):
        good = number % 4 == 0
        yield good, whole_files()[number // 4 % len(whole_files())] if good else mutated(number)


def main():
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with open(
        1, "wb", closefd=False
    ) as to:  # Python's unbuffered standard output loses what a pipe does not take at once
        for good, data in files(count, first):
            to.write((b"g" if good else b"m") + struct.pack("<I", len(data)) + data)


if __name__ == "__main__":
    main()
