# SPDX-License-Identifier: Apache-2.0
"""Small files whose headers claim a picture of any size; what follows the header does not matter."""

import functools
import io
import struct
import zlib

import image_files
import numpy as np
from PIL import Image

SMALL = Image.fromarray(image_files.ramp(16, 24)[..., :3])


def _jpeg(height, width):
    file = bytearray(image_files.saved(SMALL, "JPEG"))
    at = file.index(b"\xff\xc0")
    file[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return file


def _png(height, width):
    file = bytearray(image_files.saved(SMALL, "PNG"))
    file[16:24] = struct.pack(">II", width, height)
    file[29:33] = struct.pack(">I", zlib.crc32(file[12:29]))
    return file


def gif(height, width):
    return (
        b"GIF89a"
        + struct.pack("<HHBBB", width, height, 0x80, 0, 0)
        + bytes(6)
        + b","
        + struct.pack("<HHHHB", 0, 0, 1, 1, 0)
        + b"\x02\x02\x44\x01\x00;"
    )


def _bmp(height, width):
    return (
        struct.pack("<2sIHHI", b"BM", 1078, 0, 0, 1078)
        + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, 0, 0, 0, 0, 0)
        + bytes(1024)
    )


def animation(frame, canvas, offset=(0, 0)):
    """A WebP animation of one picture of the size (height, width), lossless, somewhere on a canvas."""
    file = io.BytesIO()
    rng = np.random.default_rng(1)
    pictures = [Image.fromarray(rng.integers(0, 256, (*frame, 4), np.uint8)) for _ in range(2)]
    pictures[0].save(file, "WEBP", save_all=True, append_images=pictures[1:], lossless=True, minimize_size=False)
    data = bytearray(file.getvalue())
    at = data.index(b"VP8X")
    data[at + 12 : at + 18] = (canvas[1] - 1).to_bytes(3, "little") + (canvas[0] - 1).to_bytes(3, "little")
    at = data.index(b"ANMF")
    data[at + 8 : at + 14] = (offset[1] // 2).to_bytes(3, "little") + (offset[0] // 2).to_bytes(3, "little")
    return bytes(data)


def webp_still(height, width):
    """34 bytes of VP8L."""
    bits = 0x2F | (width - 1) << 8 | (height - 1) << 22
    chunk = b"VP8L" + struct.pack("<I", 14) + bits.to_bytes(5, "little") + bytes(9)
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


def _jpeg2000(height, width):
    file = bytearray(image_files.saved(SMALL, "JPEG2000", no_jp2=True))
    at = file.index(b"\xff\x51")
    file[at + 6 : at + 14] = file[at + 22 : at + 30] = struct.pack(">II", width, height)  # the picture and its one tile
    return file


def _tiff(height, width):
    file = bytearray(image_files.saved(SMALL, "TIFF"))
    (first,) = struct.unpack_from("<I", file, 4)
    (count,) = struct.unpack_from("<H", file, first)
    for entry in range(first + 2, first + 2 + 12 * count, 12):
        (tag,) = struct.unpack_from("<H", file, entry)
        if tag in (256, 257):
            struct.pack_into("<HHII", file, entry, tag, 4, 1, width if tag == 256 else height)
    return file


@functools.cache
def _small_heif(codec):
    import heif_files

    return heif_files.picture(heif_files.planes_of(16, 18, "420", 8), "420", 8, codec)


def _heif(codec, height, width):
    file = bytearray(_small_heif(codec))
    at = file.find(b"ispe")
    while at >= 0:
        file[at + 8 : at + 16] = struct.pack(">II", width, height)
        at = file.find(b"ispe", at + 4)
    return file


def _exr(height, width):
    import image_files_exr

    return image_files_exr.exr(image_files_exr.reals("Y"), claim=(height, width))


def _jxl(height, width):
    import image_files_jxl

    return image_files_jxl.header(height, width)


# By the names that the decoders' own message uses.
KINDS = {
    "JPEG": _jpeg,
    "PNG": _png,
    "JPEG 2000": _jpeg2000,
    "TIFF": _tiff,
    "WebP": lambda h, w: animation((16, 16), (h, w)),
    "AVIF": functools.partial(_heif, "av1"),
    "HEIC": functools.partial(_heif, "hevc"),
    "JPEG XL": _jxl,
    "OpenEXR": _exr,
    "BMP": _bmp,
    "PNM": lambda h, w: b"P6 %d %d 255\n" % (w, h) + bytes(30),
    "GIF": gif,
}
