# SPDX-License-Identifier: Apache-2.0
"""Small files of the formats that are neither JPEG nor PNG: by Pillow and OpenCV, and by hand if those write none.

And JPEG files in pieces.
"""

import importlib
import io
import pathlib
import struct

import cv2
import numpy as np
from PIL import Image

HEIGHT, WIDTH = 37, 53


def ramp(height=HEIGHT, width=WIDTH):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 4 % 256, y * 6 % 256, (x + y) * 2 % 256, x * 3 % 256], -1).astype(np.uint8)


def saved(pixels, format, **options):
    file = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(file, format, **options)
    return file.getvalue()


def jpeg_scans(file):
    """A JPEG file cut after each of its scans; the first piece holds the headers as well."""
    cuts, i, in_scan = [], 2, False
    while i < len(file) - 1:
        marker = file[i + 1]
        if file[i] != 0xFF or marker == 0 or 0xD0 <= marker <= 0xD7:
            i += 1
            continue
        if in_scan:
            cuts.append(i)
        in_scan = marker == 0xDA
        i += 2 if marker == 0xD9 else 2 + int.from_bytes(file[i + 2 : i + 4], "big")
    return [file[a:b] for a, b in zip([0, *cuts], cuts)]


def bmp(width, height, bits, body, compression=0, palette=b"", masks=b"", header=40):
    offset = 14 + header + len(palette) + (len(masks) if header == 40 else 0)
    fields = struct.pack(
        "<IiiHHIIiiII", header, width, height, 1, bits, compression, len(body), 0, 0, len(palette) // 4, 0
    )
    fields = (fields + masks).ljust(header, b"\0") if header > 40 else fields + masks
    return struct.pack("<2sIHHI", b"BM", offset + len(body), 0, 0, offset) + fields + palette + body


GRAYS = b"".join(struct.pack("<4B", v, v, v, 0) for v in range(0, 256, 17))
COLORS = b"".join(struct.pack("<4B", 10 * i, 255 - 10 * i, 5 * i, 0) for i in range(16))


def bitmaps():
    rgba, p = ramp(), Image.fromarray(ramp()[..., :3]).quantize(200)
    file = {
        "rgb": saved(rgba[..., :3], "BMP"),
        "gray": saved(rgba[..., 0], "BMP"),
        "palette": saved(p, "BMP"),
        "bits": saved(Image.fromarray(rgba[..., 0] > 100), "BMP"),
    }
    words = np.random.default_rng(0).integers(0, 1 << 16, (5, 6)).astype("<u2")
    file["555"] = bmp(6, 5, 16, words.tobytes())
    file["565"] = bmp(6, 5, 16, words.tobytes(), 3, masks=struct.pack("<3I", 0xF800, 0x7E0, 0x1F))
    file["alpha"] = bmp(
        WIDTH,
        HEIGHT,
        32,
        rgba[::-1, :, [2, 1, 0, 3]].tobytes(),
        3,
        masks=struct.pack("<4I", 0xFF0000, 0xFF00, 0xFF, 0xFF000000),
        header=124,
    )
    file["down"] = bmp(WIDTH, -HEIGHT, 32, rgba[..., [2, 1, 0, 3]].tobytes())
    file["core"] = (
        struct.pack("<2sIHHI", b"BM", 0, 0, 0, 26) + struct.pack("<IHHHH", 12, 4, 2, 1, 24) + bytes(range(24))
    )
    # 5 x 3 from below: a run of 5; 3 as they stand; a jump of one and two runs
    file["runs"] = bmp(
        5, 3, 8, bytes([5, 3, 0, 0, 0, 3, 1, 2, 4, 0, 0, 0, 0, 2, 1, 0, 1, 7, 2, 9, 0, 1]), 1, palette=COLORS
    )
    file["nibbles"] = bmp(5, 2, 4, bytes([5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0, 0, 1]), 2, palette=COLORS)
    return {f"bmp {k}": v for k, v in file.items()}


def bitmaps_from_above():
    """Run-length coded rows, top down."""
    runs = bytes([5, 3, 0, 0, 0, 3, 1, 2, 4, 0, 0, 0, 0, 2, 1, 0, 1, 7, 2, 9, 0, 1])
    return {
        "bmp down runs": bmp(5, -3, 8, runs, 1, palette=COLORS),
        "bmp down nibbles": bmp(5, -2, 4, bytes([5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0, 0, 1]), 2, palette=COLORS),
    }


def lossless_jpeg(pixels, predictor=1, shift=0, restart_rows=0, together=True, markers=b"", ids=(1, 2, 3)):
    """ITU-T T.81, process 14, of 8 bits: (height, width, channels), by its own words. Codes of 5 bits for all categories."""
    height, width, channels = pixels.shape
    segment = lambda marker, body: bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body
    frame = struct.pack(">BHHB", 8, height, width, channels) + b"".join(
        bytes([ids[c], 0x11, 0]) for c in range(channels)
    )
    file = (
        b"\xff\xd8"
        + markers
        + segment(0xC3, frame)
        + segment(0xC4, bytes([0] + [0] * 4 + [17] + [0] * 11) + bytes(range(17)))
    )
    if restart_rows:
        file += segment(0xDD, struct.pack(">H", restart_rows * width))
    stored = (pixels >> shift).astype(int)
    scans = [range(channels)] if together else [[c] for c in range(channels)]
    for scan in scans:
        file += segment(
            0xDA, bytes([len(scan)]) + b"".join(bytes([ids[c], 0]) for c in scan) + bytes([predictor, 0, shift])
        )
        for first in range(0, height, restart_rows or height):
            bits = ""
            for y in range(first, min(height, first + (restart_rows or height))):
                for x in range(width):
                    for c in scan:
                        a, b, d = stored[y, x - 1, c], stored[y - 1, x, c], stored[y - 1, x - 1, c]
                        formula = (a, b, d, a + b - d, a + ((b - d) >> 1), b + ((a - d) >> 1), (a + b) >> 1)[
                            predictor - 1
                        ]
                        guess = (1 << (7 - shift) if x == 0 else a) if y == first else b if x == 0 else formula
                        diff = int(stored[y, x, c] - guess)
                        size = abs(diff).bit_length()
                        bits += f"{size:05b}" + (
                            f"{diff if diff > 0 else diff + (1 << size) - 1:0{size}b}" if size else ""
                        )
            bits += "1" * (-len(bits) % 8)
            file += int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
            if first + (restart_rows or height) < height:
                file += bytes([0xFF, 0xD0 + first // restart_rows % 8])
    return file + b"\xff\xd9"


def losslessly():
    rgb = ramp()[..., :3]
    return {
        "lossless rgb": lossless_jpeg(rgb, 4),
        "lossless gray": lossless_jpeg(rgb[..., :1], 7),
        "lossless restarts": lossless_jpeg(rgb, 5, restart_rows=3),
        "lossless scans": lossless_jpeg(rgb, 6, together=False),
    }


def pfm(pixels, scale):
    return (
        b"P%s\n%d %d\n%s\n" % (b"F" if pixels.shape[2] == 3 else b"f", pixels.shape[1], pixels.shape[0], scale)
        + pixels[::-1].astype("<f4" if scale.startswith(b"-") else ">f4").tobytes()
    )


def without_palette(gif):
    """A GIF of 256 colors without its palette."""
    assert gif[10] & 0x87 == 0x87
    return gif[:10] + bytes([gif[10] & 0x7F]) + gif[11:13] + gif[13 + 768 :]


def netpbm():
    rgb = ramp()[..., :3]
    size = b"%d %d\n" % (WIDTH, HEIGHT)
    wide = (rgb.astype(np.uint16) * 251 + 7).astype(">u2")
    numbers = lambda a: b"\n".join(b" ".join(b"%d" % v for v in row) for row in a.reshape(len(a), -1))
    return {
        "pnm 1": b"P1 # bits\n" + size + numbers(rgb[..., 0] > 100).replace(b" ", b""),
        "pnm 2": b"P2\n#\n" + size + b"255 " + numbers(rgb[..., 1]),
        "pnm 3": b"P3 " + size + b"255\n" + numbers(rgb),
        "pnm 4": saved(Image.fromarray(rgb[..., 0] > 100), "PPM"),
        "pnm f of reals": pfm(rgb[..., :1] / np.float32(255), b"-1.0"),
        "pnm F of reals": pfm(rgb / np.float32(255), b"1"),
        "pnm 5": saved(rgb[..., 1], "PPM"),
        "pnm 6": saved(rgb, "PPM"),
        "pnm 6 of 16 bits": b"P6\n" + size + b"65535\n" + wide.tobytes(),
        "pnm 5 of 100": b"P5 " + size + b"100\n" + (rgb[..., 0] // 3).tobytes(),
    }


def gifs():
    rgb = ramp()[..., :3]
    p = Image.fromarray(rgb).quantize(200)
    clear = p.copy()
    clear.info["transparency"] = 3
    many = saved(Image.fromarray((rgb[..., 0] + rgb[..., 1] // 2).astype(np.uint8)), "GIF", optimize=False)
    return {
        "gif": saved(p, "GIF"),
        "gif without palette": without_palette(many),
        "gif interlaced": saved(p, "GIF", interlace=1),
        "gif of two colors": saved(Image.fromarray(rgb).quantize(2), "GIF"),
        "gif moving": saved(p, "GIF", save_all=True, append_images=[Image.fromarray(rgb[::-1]).quantize(50)]),
        "gif transparent": saved(clear, "GIF", transparency=3),
    }


def webps():
    rgba = ramp()
    rgb = np.ascontiguousarray(rgba[..., :3])
    return {
        "webp lossy": saved(rgb, "WEBP", quality=80),
        "webp lossless": saved(rgb, "WEBP", lossless=True),
        "webp alpha": saved(rgba, "WEBP", lossless=True),
        "webp lossy alpha": saved(rgba, "WEBP", quality=70),
        "webp moving": saved(rgb, "WEBP", save_all=True, append_images=[Image.fromarray(rgb[::-1])], lossless=True),
    }


def tiff_by_hand(pixels, photometric, planar=False, tile=None, order="<"):
    """Uncompressed, of any number of channels: interleaved or in planes, one strip or tiles of `tile` x `tile`."""
    height, width, channels = pixels.shape
    kind = {"u": 1, "i": 2, "f": 3}[pixels.dtype.kind]
    data = pixels.astype(pixels.dtype.newbyteorder(order))
    planes = [data[..., c : c + 1] for c in range(channels)] if planar else [data]
    blocks = []
    for plane in planes:
        if tile:
            padded = np.zeros((-(-height // tile) * tile, -(-width // tile) * tile, plane.shape[2]), data.dtype)
            padded[:height, :width] = plane
            blocks += [
                padded[y : y + tile, x : x + tile].tobytes()
                for y in range(0, height, tile)
                for x in range(0, width, tile)
            ]
        else:
            blocks.append(plane.tobytes())
    body, offsets = b"", []
    for block in blocks:
        offsets.append(8 + len(body))
        body += block + bytes(len(block) % 2)
    entries, extra, after = [], b"", 8 + len(body)

    def entry(tag, code, values):
        nonlocal extra
        packed = struct.pack(order + str(len(values)) + {3: "H", 4: "I"}[code], *values)
        if len(packed) > 4:
            place = after + len(extra)
            extra += packed + bytes(len(packed) % 2)
            packed = struct.pack(order + "I", place)
        entries.append(struct.pack(order + "HHI", tag, code, len(values)) + packed.ljust(4, b"\0"))

    counts = [len(b) for b in blocks]
    (
        entry(256, 4, [width]),
        entry(257, 4, [height]),
        entry(258, 3, [8 * pixels.dtype.itemsize] * channels),
        entry(259, 3, [1]),
    )
    entry(262, 3, [photometric])
    if not tile:
        entry(273, 4, offsets)
    entry(277, 3, [channels])
    if not tile:
        entry(278, 4, [height]), entry(279, 4, counts)
    entry(284, 3, [2 if planar else 1])
    if tile:
        entry(322, 4, [tile]), entry(323, 4, [tile]), entry(324, 4, offsets), entry(325, 4, counts)
    named = {0: 1, 1: 1, 2: 3, 5: 4}[photometric]
    if channels > named:
        entry(338, 3, [0] * (channels - named))
    entry(339, 3, [kind] * channels)
    directory = struct.pack(order + "H", len(entries)) + b"".join(entries) + bytes(4)
    return (
        (b"II" if order == "<" else b"MM")
        + struct.pack(order + "HI", 42, after + len(extra))
        + body
        + extra
        + directory
    )


def tiffs():
    rgba, rgb = ramp(), np.ascontiguousarray(ramp()[..., :3])
    bits = Image.fromarray(rgb[..., 0] > 100)
    wide = rgb.astype(np.uint16) * 251 + 7
    file = {
        k: saved(rgb, "TIFF", compression=k)
        for k in ("raw", "tiff_lzw", "tiff_adobe_deflate", "jpeg", "packbits", "zstd", "lzma")
    }
    file |= {
        "gray": saved(rgb[..., 0], "TIFF"),
        "alpha": saved(rgba, "TIFF"),
        "palette": saved(Image.fromarray(rgb).quantize(200), "TIFF"),
        "bits": saved(bits, "TIFF"),
        "fax": saved(bits, "TIFF", compression="group4"),
        "cmyk": saved(Image.fromarray(rgb).convert("CMYK"), "TIFF"),
        "lab": saved(Image.fromarray(rgb).convert("LAB"), "TIFF"),
        "turned": saved(rgb, "TIFF", tiffinfo={274: 6}),
    }
    file["16 bits"] = cv2.imencode(".tiff", wide[..., ::-1])[1].tobytes()
    file["tiles"] = tiff_by_hand(rgb, 2, tile=16)
    file["planes"] = tiff_by_hand(wide, 2, planar=True, order=">")
    file["tiles of planes"] = tiff_by_hand(rgba, 2, planar=True, tile=32)
    file["real"] = tiff_by_hand((rgb / np.float32(200)), 2)
    file["seven channels"] = tiff_by_hand(np.concatenate([rgba, rgb], -1), 1)
    file["white is zero"] = tiff_by_hand(wide[..., :1], 0)
    return {f"tiff {k}": v for k, v in file.items()}


def jpeg2000s():
    rgba, rgb = ramp(), np.ascontiguousarray(ramp()[..., :3])
    wide = rgb.astype(np.uint16) * 251 + 7
    save = lambda a, **o: saved(a, "JPEG2000", **o)
    return {
        "jpeg2000": save(rgb),
        "jpeg2000 gray": save(rgb[..., 0]),
        "jpeg2000 alpha": save(rgba),
        "jpeg2000 codestream": save(rgb, no_jp2=True),
        "jpeg2000 lossy": save(rgb, irreversible=True, quality_mode="rates", quality_layers=[20, 10]),
        "jpeg2000 tiles": save(rgb, tile_size=(16, 16)),
        "jpeg2000 of 16 bits": save(Image.fromarray(wide[..., 0])),
        "jpeg2000 precincts": save(rgb, precinct_size=(64, 64), codeblock_size=(16, 16), num_resolutions=3),
    }


def other_files():
    """Those of formats with a module of their own: the function files() of image_files_<format>.py."""
    modules = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("image_files_*.py"))
    return {name: file for module in modules for name, file in importlib.import_module(module).files().items()}


def all_files():
    return {
        **other_files(),
        **bitmaps(),
        **bitmaps_from_above(),
        **losslessly(),
        **netpbm(),
        **gifs(),
        **webps(),
        **tiffs(),
        **jpeg2000s(),
    }
