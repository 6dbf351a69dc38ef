# SPDX-License-Identifier: Apache-2.0
"""FLAC files (RFC 9639) with everything that frames may have, drawn at random, also what no encoder would write."""

import random

KINDS = ("constant", "verbatim", "fixed", "linear")
BIT_CODES = {8: 1, 12: 2, 16: 4, 20: 5, 24: 6, 32: 7}
LENGTH_CODES = {192: 1, **{144 << n: n for n in range(2, 6)}, **{1 << n: n for n in range(8, 16)}}
PAIRINGS = {"left/side": 8, "side/right": 9, "mid/side": 10}


class Bits:
    def __init__(self):
        self.parts = []

    def add(self, value, count):
        if count:
            assert -(1 << count - 1) <= value < 1 << count
            self.parts.append(format(value & ((1 << count) - 1), f"0{count}b"))

    def add_unary(self, zeros):
        self.parts.append("0" * zeros + "1")

    def bytes(self):
        text = "".join(self.parts)
        text += "0" * (-len(text) % 8)
        return int("1" + text, 2).to_bytes(len(text) // 8 + 1, "big")[1:] if text else b""


def checksum(data, bits, polynomial):
    sum, top = 0, 1 << bits - 1
    for byte in data:
        sum ^= byte << bits - 8
        for _ in range(8):
            sum = (sum << 1 ^ polynomial if sum & top else sum << 1) & (2 * top - 1)
    return sum.to_bytes(bits // 8, "big")


def with_frame_sum(frame):
    return frame + checksum(frame, 16, 0x8005)


def coded_number(n):
    if n < 128:
        return bytes([n])
    more = next(m for m in range(1, 7) if n < 1 << 6 * m + max(0, 6 - m))
    lead = (0xFF00 >> more + 1) & 0xFF
    return bytes([lead | n >> 6 * more, *(0x80 | n >> 6 * k & 63 for k in range(more - 1, -1, -1))])


def frame_head(length, channel_code, bits_code, number, draw, rate_code=0, by_sample=False):
    head = Bits()
    head.add(0xFFF8 | by_sample, 16)
    code = LENGTH_CODES.get(length, 0)
    if not code or draw.random() < 0.3:
        code = 6 if length <= 256 and draw.random() < 0.8 else 7
    head.add(code, 4), head.add(rate_code, 4), head.add(channel_code, 4), head.add(bits_code, 3), head.add(0, 1)
    for byte in coded_number(number):
        head.add(byte, 8)
    if code in (6, 7):
        head.add(length - 1, 8 * (code - 5))
    if rate_code >= 12:
        head.add(44, 8 if rate_code == 12 else 16)
    return head.bytes() + checksum(head.bytes(), 8, 7)


def add_rice(out, values, order, length, draw, escapes):
    """values: those after the first `order` samples of `length`."""
    powers = [p for p in range(16) if length % (1 << p) == 0 and length >> p > order]
    power = draw.choice(powers[:9])
    folded = [2 * v if v >= 0 else -2 * v - 1 for v in values]
    largest = max(folded, default=0).bit_length()
    method = 1 if largest > 20 else draw.randrange(2)
    out.add(method, 2), out.add(power, 4)
    part, escape = length >> power, (15, 31)[method]
    for p in range(1 << power):
        some = slice(max(0, p * part - order), (p + 1) * part - order)
        mine = folded[some]
        if draw.random() < escapes:
            width = max((v.bit_length() + 1 if v >= 0 else (~v).bit_length() + 1 for v in values[some]), default=1)
            if any(values[some]) or draw.random() < 0.3:
                if width < 32:
                    out.add(escape, 4 + method), out.add(width, 5)
                    for v in values[some]:
                        out.add(v, width)
                    continue
            else:
                out.add(escape, 4 + method), out.add(0, 5)
                continue
        mean = sum(mine) // max(1, len(mine))
        k = min(escape - 1, max(0, mean.bit_length() + draw.randrange(-2, 3)))
        while mine and max(mine) >> k > 5000:
            k += 1
        out.add(k, 4 + method)
        for v in mine:
            out.add_unary(v >> k), out.add(v & ((1 << k) - 1), k)


def differences(samples, order):
    for _ in range(order):
        samples = [b - a for a, b in zip(samples, samples[1:])]
    return samples


def add_subframe(out, samples, bits, draw, kind, order, escapes):
    """What `kind` cannot hold becomes verbatim."""
    n, wasted = len(samples), 0
    shared = 0
    for v in samples:
        shared |= v
    if shared and draw.random() < 0.7:
        wasted = min((shared & -shared).bit_length() - 1, bits - 1)
    samples, bits = [v >> wasted for v in samples], bits - wasted
    if kind == "constant" and len(set(samples)) > 1:
        kind = "fixed"
    order = min(order, n - 1, 4 if kind == "fixed" else 32)
    residual = coefficients = None
    if kind == "fixed":
        residual = differences(samples, order)
    elif kind == "linear" and order > 0:
        precision, shift = draw.randrange(2, 16), draw.randrange(16)
        most = min((1 << precision - 1) - 1, max(1, (1 << shift) * 3 // (2 * order)))
        coefficients = [draw.randint(-most - (most == (1 << precision - 1) - 1), most) for _ in range(order)]
        residual = (
            [
                samples[i] - (sum(c * v for c, v in zip(coefficients, reversed(samples[i - order : i]))) >> shift)
                for i in range(order, n)
            ]
            if n < 5000
            else None
        )
    if kind in ("fixed", "linear") and (residual is None or any(not -(1 << 31) < v < 1 << 31 for v in residual)):
        kind = "verbatim"
    code = {"constant": 0, "verbatim": 1, "fixed": 8 + order, "linear": 31 + order}[kind]
    out.add(code, 7), out.add(wasted > 0, 1)
    if wasted:
        out.add_unary(wasted - 1)
    for v in samples[: {"constant": 1, "verbatim": n}.get(kind, order)]:
        out.add(v, bits)
    if kind == "linear":
        out.add(precision - 1, 4), out.add(shift, 5)
        for c in coefficients:
            out.add(c, precision)
    if residual is not None and kind != "verbatim":
        add_rice(out, residual, order, n, draw, escapes)
    return kind


def frame(planes, bits, number, draw, by_sample=False, kinds=KINDS, orders=range(33), pairing=None, escapes=0.1):
    """`planes`: the samples of each channel."""
    pairing = pairing or (draw.choice([None, *PAIRINGS]) if len(planes) == 2 else None)
    code = PAIRINGS.get(pairing, len(planes) - 1)
    depths = [bits] * len(planes)
    if pairing:
        left, right = planes
        side = [a - b for a, b in zip(left, right)]
        depths[0 if pairing == "side/right" else 1] += 1
        planes = {
            "left/side": (left, side),
            "side/right": (side, right),
            "mid/side": ([a + b >> 1 for a, b in zip(left, right)], side),
        }[pairing]
    bits_code = BIT_CODES.get(bits, 0) if draw.random() < 0.7 else 0
    out = Bits()
    for plane, depth in zip(planes, depths):
        add_subframe(out, plane, depth, draw, draw.choice(kinds), draw.choice(orders), escapes)
    head = frame_head(len(planes[0]), code, bits_code, number, draw, draw.choice((0, 4, 12, 13, 14)), by_sample)
    return with_frame_sum(head + out.bytes())


def stream_head(channels, bits, samples, rate=16000, more=b"", is_last=True):
    numbers = rate << 44 | channels - 1 << 41 | bits - 1 << 36 | samples
    block = (
        (16).to_bytes(2, "big") + (65535).to_bytes(2, "big") + bytes(6) + numbers.to_bytes(8, "big") + bytes(16) + more
    )
    return b"fLaC" + (0 if not is_last else 128).to_bytes(1, "big") + len(block).to_bytes(3, "big") + block


def sounds(n, bits, draw):
    """n samples of a kind drawn at random, from silence to both ends of the range."""
    top = (1 << bits - 1) - 1
    kind = draw.choice(("noise", "quiet", "walk", "constant", "ends", "rare", "wasted"))
    if kind == "noise":
        return [draw.randint(-top - 1, top) for _ in range(n)]
    if kind == "quiet":
        return [draw.randint(max(-3, -top), min(3, top)) for _ in range(n)]
    if kind == "constant":
        return [draw.randint(-top - 1, top)] * n
    if kind == "ends":
        return [draw.choice((-top - 1, top)) for _ in range(n)]
    if kind == "rare":
        return [draw.randint(-top - 1, top) if draw.random() < 0.01 else 0 for _ in range(n)]
    if kind == "wasted":
        low = draw.randrange(1, bits)
        return [draw.randint(-top - 1, top) >> low << low for _ in range(n)]
    v, step, walk = 0, max(1, top >> draw.randrange(3, 12)), []
    for _ in range(n):
        v = max(-top - 1, min(top, v + draw.randint(-step, step)))
        walk.append(v)
    return walk


def drawn_file(seed, bits=None, channels=None, lengths=None, is_counted=True, **how):
    """(file, planes)"""
    draw = random.Random(seed)
    bits, channels = bits or draw.randrange(4, 33), channels or draw.choice((1, 1, 2, 2, 2, 3, 5, 8))
    if lengths is None:
        one = draw.choice((1, 2, 16, 17, 100, 192, 256, 500, 576, 1000, 1024))
        lengths = [one] * draw.randrange(1, 12) + [draw.randint(1, one)]
        if draw.random() < 0.4:
            draw.shuffle(lengths)
    by_sample = len(set(lengths[:-1])) > 1
    planes, frames, at = [[] for _ in range(channels)], [], 0
    for k, n in enumerate(lengths):
        some = [sounds(n, bits, draw)]
        for _ in range(channels - 1):
            near = [max(-(1 << bits - 1), min((1 << bits - 1) - 1, v + draw.randint(-2, 2))) for v in some[0]]
            some.append(near if draw.random() < 0.5 else sounds(n, bits, draw))
        frames.append(frame(some, bits, at if by_sample else k, draw, by_sample, **how))
        for plane, new in zip(planes, some):
            plane.extend(new)
        at += n
    return stream_head(channels, bits, at if is_counted else 0) + b"".join(frames), planes


def ogg_page(packets, number, flags=0, stream=7):
    """`packets`: whole ones."""
    segments = b"".join(b"\xff" * (len(p) // 255) + bytes([len(p) % 255]) for p in packets)
    head = b"OggS\0" + bytes([flags]) + bytes(8) + stream.to_bytes(4, "little") + number.to_bytes(4, "little")
    rest = bytes([len(segments)]) + segments + b"".join(packets)
    return head + checksum(head + bytes(4) + rest, 32, 0x04C11DB7)[::-1] + rest


def in_ogg(file):
    """A file as drawn_file() makes them, a page for the header and one for each ten frames or so (RFC 9639, section 10.1)."""
    frames = [
        b"\xff" + part for part in file[42:].split(b"\xff")[1:]
    ]  # wherever the bytes may be cut: they are joined again
    pages = [ogg_page([b"\x7fFLAC\1\0\0\0" + file[:42]], 0, 2)]
    return b"".join(
        pages
        + [ogg_page(frames[k : k + 10], 1 + k // 10, 4 * (k + 10 >= len(frames))) for k in range(0, len(frames), 10)]
    )
