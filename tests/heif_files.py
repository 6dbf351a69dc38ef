# SPDX-License-Identifier: Apache-2.0
"""AVIF and HEIC files whose planes are known: ffmpeg codes them without loss, the boxes are written here."""

import struct
import subprocess

import numpy as np

BITS = {"": 8, "10le": 10, "12le": 12}


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def full(kind, *parts, version=0, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


def find_box(file, kind):
    """The whole box, wherever it is."""
    at = file.index(kind) - 4
    return file[at : at + struct.unpack_from(">I", file, at)[0]]


def planes_of(height, width, chroma, bits, seed=0):
    """Smooth planes with a little noise: gray (400), 420, 422, 444."""
    random = np.random.default_rng(seed)
    shape = {
        "400": [],
        "420": [(-(-height // 2), -(-width // 2))] * 2,
        "422": [(height, -(-width // 2))] * 2,
        "444": [(height, width)] * 2,
    }[chroma]
    planes = []
    for i, (h, w) in enumerate([(height, width)] + shape):
        y, x = np.mgrid[:h, :w]
        v = 0.5 + 0.45 * np.sin(x / (5 + i) + i) * np.cos(y / (7 - i)) + random.normal(0, 0.02, (h, w))
        planes.append(np.clip(np.rint(v * (2**bits - 1)), 0, 2**bits - 1).astype(np.uint8 if bits == 8 else np.uint16))
    return planes


def coded(planes, chroma, bits, codec, matrix="bt709", full_range=True):
    """(configuration box, coded data) of one picture, by x265 or libaom, which lose nothing here."""
    height, width = planes[0].shape
    depth = {8: "", 10: "10le", 12: "12le"}[bits]
    name = "gray" + depth if chroma == "400" else "gbrp" + depth if matrix == "rgb" else f"yuv{chroma}p{depth}"
    if codec == "hevc":
        if matrix == "rgb":
            raise ValueError("not made here")
        options = [
            "-c:v",
            "libx265",
            "-preset",
            "ultrafast",
            "-x265-params",
            "lossless=1:info=0:log-level=none:pools=1:frame-threads=1",
        ]
    else:
        options = ["-c:v", "libaom-av1", "-aom-params", "lossless=1", "-cpu-used", "8", "-threads", "1", "-g", "1"]
    color = ["-color_range", "pc" if full_range else "tv"] + (["-colorspace", matrix] if matrix else [])
    raw = b"".join(np.ascontiguousarray(p).tobytes() for p in planes)
    done = subprocess.run(
        [
            "ffmpeg",
            "-v",
            "error",
            "-f",
            "rawvideo",
            "-pix_fmt",
            name,
            "-s",
            f"{width}x{height}",
            *color,
            "-i",
            "-",
            "-frames:v",
            "1",
            *options,
            *color,
            "-tag:v",
            "hvc1" if codec == "hevc" else "av01",
            "-movflags",
            "frag_keyframe+empty_moov+delay_moov",
            "-f",
            "mp4",
            "-",
        ],
        input=raw,
        capture_output=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return find_box(done.stdout, b"hvcC" if codec == "hevc" else b"av1C"), find_box(done.stdout, b"mdat")[8:]


def nclx(primaries, transfer, matrix, full_range):
    return box(b"colr", b"nclx", struct.pack(">HHHB", primaries, transfer, matrix, full_range << 7))


def ispe(height, width):
    return full(b"ispe", struct.pack(">II", width, height))


def clap(width, height, right=0, down=0):
    """Distances of centers in half pixels."""
    return box(b"clap", struct.pack(">IIIIiIiI", width, 1, height, 1, right, 2, down, 2))


def irot(quarters):
    return box(b"irot", bytes([quarters]))


def imir(axis):
    return box(b"imir", bytes([axis]))


ALPHA = full(b"auxC", b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")


def heif(
    items, references=(), brand=b"avif", compatible=(b"mif1",), essential=(b"av1C", b"hvcC", b"irot", b"imir", b"clap")
):
    """A file whose picture is the first of `items`: (type, [property boxes], coded data)."""
    ipco, associations, entries, places = [], b"", b"", []
    for i, (kind, properties, data) in enumerate(items, 1):
        entries += full(b"infe", struct.pack(">HH4s", i, 0, kind), b"\0", version=2)
        associations += struct.pack(">HB", i, len(properties))
        for p in properties:
            if p not in ipco:
                ipco.append(p)
            associations += bytes([ipco.index(p) + 1 | (0x80 if p[4:8] in essential else 0)])
        places.append(len(data))

    def meta(begin):
        iloc, at = b"", begin
        for i, size in enumerate(places, 1):
            iloc += struct.pack(">HHHII", i, 0, 1, at, size)
            at += size
        parts = [
            full(b"hdlr", bytes(4), b"pict", bytes(13)),
            full(b"pitm", struct.pack(">H", 1)),
            full(b"iloc", struct.pack(">HH", 0x4400, len(items)), iloc),
            full(b"iinf", struct.pack(">H", len(items)), entries),
            box(b"iprp", box(b"ipco", *ipco), full(b"ipma", struct.pack(">I", len(items)), associations)),
        ]
        if references:
            parts.append(
                full(
                    b"iref",
                    *(
                        box(kind, struct.pack(">HH", a, len(to)), *(struct.pack(">H", t) for t in to))
                        for kind, a, to in references
                    ),
                )
            )
        return full(b"meta", *parts)

    head = box(b"ftyp", brand, bytes(4), brand, *compatible)
    begin = len(head) + len(meta(0)) + 8
    return head + meta(begin) + box(b"mdat", *(data for _, _, data in items))


def picture(planes, chroma, bits, codec, properties=(), matrix="bt709", full_range=True, alpha=None, **options):
    """One item, with `alpha` (a plane) a second one."""
    kind = b"hvc1" if codec == "hevc" else b"av01"
    configuration, data = coded(planes, chroma, bits, codec, matrix, full_range)
    items, references = [(kind, [ispe(*planes[0].shape), configuration, *properties], data)], []
    if alpha is not None:
        configuration, data = coded([alpha], "400", bits, codec, None, True)
        items.append((kind, [ispe(*alpha.shape), configuration, ALPHA], data))
        references = [(b"auxl", 2, [1])]
    return heif(items, references, brand=b"heic" if codec == "hevc" else b"avif", **options)


def grid(planes, chroma, bits, codec, tile, properties=()):
    """Tiles of `tile` (height, width), which extend over the edge: there the planes' samples are repeated."""
    height, width = planes[0].shape
    rows, columns = -(-height // tile[0]), -(-width // tile[1])
    kind = b"hvc1" if codec == "hevc" else b"av01"
    items = [
        (
            b"grid",
            [ispe(height, width), *properties],
            struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, width, height),
        )
    ]
    for r in range(rows):
        for c in range(columns):
            part = []
            for i, p in enumerate(planes):
                dy, dx = {"420": (2, 2), "422": (1, 2)}.get(chroma, (1, 1)) if i else (1, 1)
                h, w = tile[0] // dy, tile[1] // dx
                cut = p[r * h : (r + 1) * h, c * w : (c + 1) * w]
                part.append(np.pad(cut, ((0, h - cut.shape[0]), (0, w - cut.shape[1])), mode="edge"))
            configuration, data = coded(part, chroma, bits, codec)
            items.append((kind, [ispe(*tile), configuration], data))
    return heif(
        items, [(b"dimg", 1, list(range(2, rows * columns + 2)))], brand=b"heic" if codec == "hevc" else b"avif"
    )


WEIGHTS = {
    "bt709": (0.2126, 0.0722),
    "smpte170m": (0.299, 0.114),
    "bt2020nc": (0.2627, 0.0593),
    None: (0.299, 0.114),
    "smpte240m": (0.212, 0.087),
    "fcc": (0.30, 0.11),
}


def upsampled(plane, height, width, chroma):
    """As color_rows.h says it."""
    if chroma == "444":
        return plane.astype(np.int64)
    near = lambda n: np.arange(n) // 2
    far = lambda n, last: np.clip(np.arange(n) // 2 + np.where(np.arange(n) % 2, 1, -1), 0, last)
    p = plane.astype(np.int64)
    if chroma == "420":
        p = 3 * p[near(height)] + p[far(height, plane.shape[0] - 1)]
    p = 3 * p[:, near(width)] + p[:, far(width, plane.shape[1] - 1)]
    return p + 8 >> 4 if chroma == "420" else p + 2 >> 2


def colors(planes, chroma, bits, matrix="bt709", full_range=True):
    """RGB (or gray) in the range of uint8, or of uint16 for deeper samples, before it is rounded: ITU-T H.273 in float64."""
    height, width = planes[0].shape
    top, step = (255 if bits == 8 else 65535), 2 ** (bits - 8)
    most = 2**bits - 1
    low, scale = (0, top / most) if full_range else (16 * step, top / (219 * step))
    luma = (planes[0].astype(np.float64) - low) * scale
    if chroma == "400":
        rgb = luma[..., None]
    elif matrix == "rgb":
        rgb = np.stack([(planes[i].astype(np.float64) - low) * scale for i in (2, 0, 1)], -1)
    else:
        b, r = (
            (upsampled(p, height, width, chroma) - 128 * step) * (top / (most if full_range else 224 * step))
            for p in planes[1:]
        )
        if matrix == "ycgco":
            rgb = np.stack([luma - b + r, luma + b, luma - b - r], -1)
        else:
            kr, kb = WEIGHTS[matrix]
            kg = 1 - kr - kb
            rgb = np.stack(
                [
                    luma + 2 * (1 - kr) * r,
                    luma - 2 * (1 - kb) * kb / kg * b - 2 * (1 - kr) * kr / kg * r,
                    luma + 2 * (1 - kb) * b,
                ],
                -1,
            )
    return np.clip(rgb, 0, top)


def small_files():
    """One of each kind."""
    gray, color = planes_of(16, 18, "400", 8), planes_of(16, 18, "420", 8)
    turned = [clap(12, 10), irot(1), imir(0), nclx(1, 13, 6, 1)]
    return {
        "avif": picture(color, "420", 8, "av1", turned),
        "avif alpha": picture(color, "420", 8, "av1", alpha=gray[0]),
        "avif of 10 bits": picture(planes_of(16, 18, "444", 10), "444", 10, "av1"),
        "avif grid": grid(gray, "400", 8, "av1", (8, 16)),
        "heic": picture(color, "420", 8, "hevc", turned),
        "heic alpha": picture(color, "420", 8, "hevc", alpha=gray[0]),
    }
