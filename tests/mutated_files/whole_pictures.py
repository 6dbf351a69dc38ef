# SPDX-License-Identifier: Apache-2.0
"""Small JPEG and PNG files of every kind, by Pillow and OpenCV, and by hand if those write none."""

import base64
import struct
import zlib

import cv2
import numpy as np
from image_files import ramp, saved
from PIL import Image

# 26 x 18, with arithmetic codes, by libjpeg-turbo 2.1: sequential with restart markers, and progressive.
ARITHMETIC = {
    "arithmetic": """
/9j/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshIT
t8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/yQARCAASABoDASIAAhEBAxEB/8wACgAQEAUBEBEF
/90ABAAC/9oADAMBAAIRAxEAPwD/AGPfudt0SGef5qaSVKq/lznXdFj6wUgGMc4XeGJ5UD3IwAAAGfmyoXXd1B8+8e5mgyHt9avmKR37PxBwHKeM+W
U0BFUju/DkcP/Q0FrWYueUCx/POGMe8/VwHpCIkI8KdDBPD74zUI76bsykdmTo/9k=
""",
    "arithmetic progressive": """
/9j/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshIT
t8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/ygARCAASABoDASIAAhEBAxEB/8wABgAQARD/2gAM
AwEAAhADEAAAAf66MGLgNTV5D8bSG6WMefCynmcQ/8wABBAF/9oACAEBAAEFAhKifwkwXA1JWv/MAAQRBf/aAAgBAwEBPwEXtPD+/P/MAAQRBf/aAA
gBAgEBPwGOpP6NmGj/zAAEEAX/2gAIAQEABj8CwP/MAAQQBf/aAAgBAQABPyGKh2EspOSraqOLgP/aAAwDAQACAAMAAAAQTKZo/8wABBEF/9oACAED
AQE/ENpsMP/MAAQRBf/aAAgBAgEBPxCPW8AAAACBFa8sidD/zAAEEAX/2gAIAQEAAT8QYndKycVjpgUHORJ/C1AQTGwTBLx1CtmmUzywTkkFXNKg+J
dA/9k=
""",
}
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def photograph(height=30, width=40):
    y, x = np.mgrid[:height, :width]
    waves = np.stack([128 + 100 * np.sin(x / (3 + c) + y / (7 - c)) for c in range(3)], -1)
    return np.clip(waves + np.random.default_rng(0).normal(0, 12, waves.shape), 0, 255).astype(np.uint8)


def jpegs():
    rgb = photograph()
    gray, exif = rgb[..., 0], Image.Exif()
    exif[274] = 6
    files = {str(s): saved(rgb, "JPEG", subsampling=s) for s in ("4:4:4", "4:2:2", "4:2:0")}
    files |= {
        "gray": saved(gray, "JPEG"),
        "cmyk": saved(Image.fromarray(rgb).convert("CMYK"), "JPEG"),
        "restarts": saved(rgb, "JPEG", restart_marker_blocks=2),
        "gray restarts": saved(gray, "JPEG", restart_marker_rows=1),
        "optimized": saved(rgb, "JPEG", optimize=True, quality=95),
        "turned": saved(rgb, "JPEG", exif=exif),
        "progressive": saved(rgb, "JPEG", progressive=True),
        "progressive gray": saved(gray, "JPEG", progressive=True),
        "progressive restarts": saved(rgb, "JPEG", progressive=True, restart_marker_blocks=2),
    }
    files |= {name: base64.b64decode(text) for name, text in ARITHMETIC.items()}
    return {"jpeg " + name.replace(":", ""): file for name, file in files.items()}


def png(pixels, bits=8, color=2, palette=None, interlaced=False):
    """Filter 0 in all rows but each third one, which has filter 1, 2, 3 or 4 of zeros."""
    height, width = pixels.shape[:2]
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b""
    for y, x, down, right in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        part = pixels[y::down, x::right]
        for n, row in enumerate(part if part.shape[1] else ()):
            data = (
                row.astype(">u2").tobytes()
                if bits == 16
                else row.tobytes()
                if bits == 8
                else np.packbits(np.unpackbits(row.reshape(-1, 1), axis=1)[:, 8 - bits :].ravel()).tobytes()
            )
            rows += bytes([1 + n // 3 % 4]) + bytes(len(data)) if n % 3 == 2 else b"\0" + data
    head = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, int(interlaced))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + (chunk(b"PLTE", palette) if palette else b"")
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def pngs():
    rgba, rgb = ramp(30, 40), photograph()
    wide, few = rgb.astype(np.uint16) * 251 + 7, (rgb[..., 0] >> 4).astype(np.uint8)
    clear = Image.fromarray(rgb).quantize(200)
    clear.info["transparency"] = 3
    palette = np.random.default_rng(1).bytes(48)
    files = {
        "rgb": saved(rgb, "PNG"),
        "gray": saved(rgb[..., 0], "PNG"),
        "alpha": saved(rgba, "PNG"),
        "gray alpha": png(rgba[..., :2], color=4),
        "palette": saved(clear, "PNG"),
        "palette clear": saved(clear, "PNG", transparency=3),
        "bits": saved(Image.fromarray(rgb[..., 0] > 100), "PNG"),
        "16 bits": cv2.imencode(".png", wide)[1].tobytes(),
        "gray 16 bits": cv2.imencode(".png", wide[..., 0])[1].tobytes(),
        "palette 4 bits": png(few, 4, 3, palette),
        "gray 2 bits": png(few & 3, 2, 0),
    }
    files |= {
        "interlaced": png(rgb, interlaced=True),
        "interlaced 16 bits": png(wide, 16, interlaced=True),
        "interlaced palette": png(few, 4, 3, palette, True),
        "interlaced bits": png(few & 1, 1, 0, interlaced=True),
    }
    return {"png " + name: file for name, file in files.items()}
