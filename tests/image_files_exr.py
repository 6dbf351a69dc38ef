# SPDX-License-Identifier: Apache-2.0
"""Small files of OpenEXR, by the words of its file layout (openexr.com, "OpenEXR File Layout"): scan lines and tiles, raw and ZIP."""

import struct
import zlib

import image_files
import numpy as np

NONE, ZIPS, ZIP, B44, DWAA = 0, 2, 3, 6, 8
LINES = {NONE: 1, ZIPS: 1, ZIP: 16, B44: 32, DWAA: 32}


def attribute(name, kind, value):
    return b"%s\0%s\0" % (name.encode(), kind.encode()) + struct.pack("<i", len(value)) + value


def box(y, x, height, width):
    return struct.pack("<4i", x, y, x + width - 1, y + height - 1)


def compressed(data, compression):
    """ZIP: the bytes at even places before those at odd ones, as differences, by deflate; raw if that is not shorter."""
    if compression == NONE:
        return data
    values = np.frombuffer(data, np.uint8)
    apart = np.concatenate([values[::2], values[1::2]]).astype(np.int64)
    apart[1:] = (apart[1:] - apart[:-1] + 128) % 256
    packed = zlib.compress(apart.astype(np.uint8).tobytes())
    return packed if len(packed) < len(data) else data


def exr(channels, compression=ZIP, at=(0, 0), tile=None, claim=None, sampling=1, **more):
    """A file of one part.

    Args:
        channels: Name -> plane of float16, float32 or uint32, all of one size.
        compression: NONE, ZIPS or ZIP; others are only claimed.
        at: Row and column of the data window's first pixel.
        tile: Height and width of tiles.
        claim: Height and width that the header claims.
        sampling: That of all channels.
        **more: Attributes in place of the usual ones, by name: (type, bytes).
    """
    names = sorted(channels)
    height, width = channels[names[0]].shape
    kinds = {"uint32": 0, "float16": 1, "float32": 2}
    listed = b"".join(
        n.encode() + b"\0" + struct.pack("<iB3xii", kinds[channels[n].dtype.name], 0, sampling, sampling) for n in names
    )
    window = box(*at, *(claim or (height, width)))
    attributes = {
        "channels": ("chlist", listed + b"\0"),
        "compression": ("compression", bytes([compression])),
        "dataWindow": ("box2i", window),
        "displayWindow": ("box2i", box(0, 0, 64, 64)),
        "lineOrder": ("lineOrder", b"\0"),
        "pixelAspectRatio": ("float", struct.pack("<f", 1)),
        "screenWindowCenter": ("v2f", bytes(8)),
        "screenWindowWidth": ("float", struct.pack("<f", 1)),
        **({"tiles": ("tiledesc", struct.pack("<IIB", tile[1], tile[0], 0))} if tile else {}),
        **more,
    }
    head = struct.pack("<II", 0x01312F76, 2 | (0x200 if tile else 0))
    head += b"".join(attribute(name, *value) for name, value in attributes.items()) + b"\0"

    def block(rows, columns):
        return b"".join(channels[n][y, columns].tobytes() for y in range(*rows.indices(height)) for n in names)

    chunks = []
    if tile:
        for y in range(0, height, tile[0]):
            for x in range(0, width, tile[1]):
                data = compressed(block(slice(y, y + tile[0]), slice(x, x + tile[1])), compression)
                chunks.append(struct.pack("<5i", x // tile[1], y // tile[0], 0, 0, len(data)) + data)
    else:
        for y in range(0, height, LINES[compression]):
            data = compressed(block(slice(y, y + LINES[compression]), slice(None)), compression)
            chunks.append(struct.pack("<2i", at[0] + y, len(data)) + data)
    place, table = len(head) + 8 * len(chunks), b""
    for chunk in chunks:
        table += struct.pack("<Q", place)
        place += len(chunk)
    return head + table + b"".join(chunks)


def reals(channels="RGBA", dtype=np.float16):
    """Planes of values from 0 to 1.28."""
    return {name: (image_files.ramp()[..., k] / np.float32(200)).astype(dtype) for k, name in enumerate(channels)}


def files():
    return {
        "exr": exr(reals("RGB")),
        "exr gray": exr(reals("Y", np.float32), NONE),
        "exr tiles": exr(reals(), ZIPS, tile=(16, 32)),
        "exr window": exr(reals("RGB", np.float32), at=(-5, 7)),
    }
