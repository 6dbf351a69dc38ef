# SPDX-License-Identifier: Apache-2.0
"""What the calls of the gallery work on: photographs, a mask, boxes, a film and a second of sound. And how results are drawn."""

import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import penstock
from penstock import fn
from repository import ROOT

sys.path.append(str(ROOT / "examples" / "demo"))
from data import load_sources  # noqa: E402

HEIGHT, WIDTH = 240, 320
SOUND = 16000  # samples, one second
PAPER, INK = (215, 217, 220), (40, 40, 40)  # not white: the page around it may be dark


def photographs():
    """The cat and the cup, of HEIGHT x WIDTH."""
    sources = load_sources()
    cut = {"cat": (60, 20, 380, 260), "coffee": (40, 5, 560, 395)}
    return [np.array(sources[n].resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS, box=b)) for n, b in cut.items()]


def speech():
    """Three syllables: harmonics of a gliding pitch with pauses between them, and a little noise."""
    t = np.arange(SOUND) / 16000
    pitch = 140 + 60 * np.sin(2 * np.pi * 1.3 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / 16000
    loud = np.clip(np.sin(2 * np.pi * 3 * t), 0, None) ** 0.5 * (t < 0.95)
    formants = ((700, 300, 1.0), (1900, 400, 0.5), (3100, 500, 0.3), (5200, 900, 0.1))
    sound = sum(
        np.sin(k * phase) * sum(a * np.exp(-(((k * pitch - f) / w) ** 2)) for f, w, a in formants) for k in range(1, 40)
    )
    return (0.12 * loud * sound + 0.002 * np.random.default_rng(0).standard_normal(SOUND)).astype(np.float32)


def mask():
    """White shapes on black, (HEIGHT, WIDTH, 1)."""
    picture = Image.new("L", (WIDTH, HEIGHT))
    pen = ImageDraw.Draw(picture)
    pen.ellipse((30, 40, 140, 150), fill=255)
    pen.rectangle((180, 30, 290, 100), fill=255)
    pen.polygon([(120, 220), (200, 130), (280, 220)], fill=255)
    return np.array(picture)[..., None]


def scene():
    """The names that a call may use."""
    image, other = photographs()
    gray = np.array(fn.grayscale(image))
    scratch = np.zeros((HEIGHT, WIDTH), np.uint8)
    scratch[::40, 20:300] = scratch[1::40, 20:300] = scratch[20:220, 50::60] = 1
    scratched = image.copy()
    scratched[scratch > 0] = 255
    rows, columns = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    sound = speech()
    power = np.array(fn.spectrogram(sound, window_length=512, window_step=128))
    boxes = np.float32([[30, 5, 90, 75], [92, 80, 232, 132]])
    noisy = np.array(fn.noise.salt_and_pepper(image, prob=0.1, seed=1))
    return {
        "np": np, "penstock": penstock, "fn": fn, "image": image, "other": other, "gray": gray, "mask": mask(),
        "edges": np.array(fn.canny(gray, low=60, high=160)), "board": np.zeros_like(image), "noisy": noisy,
        "dull": np.array(fn.brightness_contrast(image, contrast=0.3)), "scratch": scratch, "scratched": scratched,
        "picture": penstock.tensor(image, layout="HWC"), "file": np.array(fn.encoders.jpeg(image)),
        "mosaic": mosaic(image), "opened": "photo.jpg\n240 rows, 320 columns", "fractions": boxes / np.float32([WIDTH, HEIGHT, WIDTH, HEIGHT]),
        "corners": np.float32([[0, 0], [320, 0], [320, 240], [0, 240]]),
        "rows": rows, "columns": columns, "boxes": boxes, "scores": np.float32([0.9, 0.8, 0.7, 0.6]),
        "crowd": np.concatenate([boxes, boxes + np.float32([6, 6, 6, 6])]),
        "points": np.float32([[128, 106], [196, 104], [164, 160], [60, 30], [258, 28]]),
        "film": np.stack([np.roll(image, 24 * k, axis=1) for k in range(4)]), "speech": sound, "power": power,
        "room": np.exp(-np.arange(6000) / 1200).astype(np.float32) * np.random.default_rng(1).standard_normal(6000).astype(np.float32),
        "decibels": np.array(fn.to_decibels(power, cutoff_db=-60.0)),
        "dots": dots, "band": band, "bars": bars, "counts": counts, "colored": colored, "outlined": outlined, "strokes": strokes, "heard": heard,
    }  # fmt: skip


def dots(image, points):
    points = np.array(points, np.float32).reshape(-1, 2)
    return fn.draw_circles(
        image, centers=points.ravel().tolist(), radius=[7] * len(points), color=[255, 60, 60], thickness=0
    )


def band(values):
    """A row of values as a picture."""
    return np.repeat(np.array(values, np.float32)[None], 60, axis=0)


def bars(values):
    values = np.array(values, np.float64).ravel()
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen = ImageDraw.Draw(picture)
    top, wide = values.max() or 1, WIDTH / len(values)
    for i, v in enumerate(values):
        pen.rectangle((i * wide, HEIGHT - 1 - v / top * (HEIGHT - 12), (i + 1) * wide - 1, HEIGHT), fill=(60, 110, 170))
    return np.array(picture)


def counts(draw):
    """The histogram of 2000 draws."""
    return bars(np.histogram([float(draw()) for _ in range(2000)], bins=40)[0])


def colored(labels):
    colors = np.uint8([[0, 0, 0], [230, 120, 60], [90, 170, 230], [120, 200, 110]])
    return colors[np.array(labels)[..., 0] % 4 if np.array(labels).ndim == 3 else np.array(labels) % 4]


def heard(sound, rate=16000):
    """The spectrogram of sound, in decibels."""
    window = 512 * rate // 16000
    return fn.to_decibels(fn.spectrogram(sound, window_length=window, window_step=window // 4), cutoff_db=-60.0)


def mosaic(image):
    """What a sensor with a Bayer filter sees of a picture: blue in the corner."""
    raw = image[..., 1].copy()
    raw[::2, ::2], raw[1::2, 1::2] = image[::2, ::2, 2], image[1::2, 1::2, 0]
    return raw[..., None]


def strokes(image, lines):
    ends = np.array(lines).round().astype(int).ravel().tolist()
    return fn.draw_lines(image, lines=ends, color=[255, 220, 0], thickness=3)


def outlined(image, rectangle):
    """A rectangle (center, width, height, degrees) over a picture."""
    x, y, width, height, angle = np.array(rectangle, np.float64).tolist()
    turn = np.exp(1j * np.deg2rad(angle))
    corners = [x + 1j * y + turn * (a * width + b * height * 1j) / 2 for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    ends = np.stack([corners, np.roll(corners, -1)], 1)
    return strokes(image, np.stack([ends.real, ends.imag], -1).reshape(4, 4))


def page_of(text):
    """Lines of text as a picture."""
    font = ImageFont.load_default(15)
    lines = [line[i : i + 40] for line in text.splitlines() or [""] for i in range(0, max(len(line), 1), 40)][:10]
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    ImageDraw.Draw(picture).multiline_text((12, 12), "\n".join(lines), fill=INK, font=font, spacing=6)
    return picture


def pixels_of(array):
    """An array of rows, columns and channels as a picture; values of other types than bytes are stretched."""
    if array.dtype != np.uint8:
        array = array.astype(np.float64)
        array = (255 * (array - array.min()) / max(np.ptp(array), 1e-12)).astype(np.uint8)
    return Image.fromarray(array[..., 0] if array.shape[2] == 1 else array[..., :3]).convert("RGB")


def picture_of(value, sound=False):
    """A result as a picture of Pillow: text and few numbers as text, sound as a wave, spectra in colors."""
    if isinstance(value, str):
        return page_of(value)
    array = np.array(value)
    if array.size <= 64:
        return page_of(f"{array.dtype} {array.shape}\n{array}")
    if array.ndim == 4:  # frames, two in a row
        array = np.concatenate([np.concatenate(array[i : i + 2], 1) for i in range(0, len(array), 2)], 0)
    if array.ndim == 1 or (sound and array.ndim == 2):
        shown = penstock.pictures.show([array], size=WIDTH, layout="" if array.ndim == 1 else "ft")
        return shown.convert("RGB")
    return pixels_of(array if array.ndim == 3 else array[..., None])


def side_by_side(before, after):
    """Both on one sheet of paper, each in the middle of its half."""
    gap = 12
    sheet = Image.new("RGB", (2 * WIDTH + gap, HEIGHT), PAPER)
    for k, picture in enumerate((before, after)):
        if picture.width > WIDTH or picture.height > HEIGHT:
            picture.thumbnail((WIDTH, HEIGHT))
        x = k * (WIDTH + gap) + (WIDTH - picture.width) // 2
        sheet.paste(picture, (x, (HEIGHT - picture.height) // 2))
    return sheet
