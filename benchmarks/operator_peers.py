# SPDX-License-Identifier: Apache-2.0
"""What OpenCV, or else NumPy, SciPy or torch, does in place of a row of operator_rows.py: for one sample.

`PEERS` has a function for each row's name, that gets the sample's arrays, and where the arithmetic differs from Penstock's a note.
"""

import importlib.util
import io

import cv2
import numpy as np

cv2.setNumThreads(1)
RANDOM = np.random.default_rng(0)
PEERS, NOTES, LIBRARIES = {}, {}, {}


def peer(name, function, note="", library="OpenCV"):
    PEERS[name], LIBRARIES[name] = function, library
    if note:
        NOTES[name] = note


def numpy_peer(name, function, note=""):
    peer(name, function, note, "NumPy")


def divided(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(a, b, dtype=np.float32)


def signs():
    both = {"_add": np.add, "_sub": np.subtract, "_mul": np.multiply}
    both |= {"_lt": np.less, "_le": np.less_equal, "_gt": np.greater, "_ge": np.greater_equal}
    both |= {"_eq": np.equal, "_ne": np.not_equal}
    both |= {"_and": np.bitwise_and, "_or": np.bitwise_or, "_xor": np.bitwise_xor}
    both |= {"_shl": np.left_shift, "_shr": np.right_shift, "_pow": np.power}
    both |= {"_math.min": np.minimum, "_math.max": np.maximum, "_math.pow": np.power, "_math.fpow": np.power}
    both |= {"_math.atan2": np.arctan2}
    for name, function in both.items():
        numpy_peer(name, function)
    one = np.float32(1)
    numpy_peer("_div", divided)
    numpy_peer("_fdiv", lambda a, b: a // (b + a.dtype.type(1)), "float32: NumPy rounds down, Penstock divides")
    numpy_peer("_mod", lambda a, b: np.fmod(a, b + a.dtype.type(1)))
    numpy_peer("_add constant", lambda x: x + (np.int32(3) if x.dtype == np.uint8 else np.float32(3)))
    numpy_peer("_mul constant", lambda x: np.multiply(x, np.float32(1.5), dtype=np.float32))
    numpy_peer("_neg", np.negative)
    numpy_peer("_pos", np.positive)
    numpy_peer("_not", np.invert)
    for name, function in {
        **{
            n: getattr(np, n)
            for n in "sqrt cbrt exp log log2 log10 sin cos tan sinh cosh tanh fabs floor ceil abs".split()
        },
        **{f"a{n}": getattr(np, f"arc{n}") for n in "sin cos tan sinh cosh tanh".split()},
        "rsqrt": lambda x: one / np.sqrt(x),
    }.items():
        numpy_peer(f"_math.{name}", function)


def resampling():
    at = {
        "linear": cv2.INTER_LINEAR,
        "cubic": cv2.INTER_CUBIC,
        "lanczos": cv2.INTER_LANCZOS4,
        "nearest": cv2.INTER_NEAREST,
    }
    resize = lambda side, how: lambda x: cv2.resize(x, (side, side), interpolation=how)
    notes = {"lanczos": "8 taps in place of 6", "cubic": "another cubic"}
    for kind, how in at.items():
        peer(f"resize 224 {kind}", resize(224, how), notes.get(kind, ""))
    peer("resize 224 antialiased", resize(224, cv2.INTER_AREA), "areas in place of triangles")
    peer("resize 224 area", resize(224, cv2.INTER_AREA))
    for kind, how in (*at.items(), ("area", cv2.INTER_AREA), ("linear_exact", cv2.INTER_LINEAR_EXACT)):
        if kind != "nearest":
            peer(f"resize 224 {kind} as OpenCV", resize(224, how))
    peer("tensor_resize", resize(224, cv2.INTER_LINEAR))
    peer("resize half area", lambda x: cv2.resize(x, (256, 192), interpolation=cv2.INTER_AREA))
    for kind in ("linear", "cubic"):
        peer(f"resize 640 {kind}", resize(640, at[kind]), notes.get(kind, ""))

    def letterbox(x):
        scale = min(416 / x.shape[0], 640 / x.shape[1])
        high, wide = (round(n * scale) for n in x.shape[:2])
        down, across = 416 - high, 640 - wide
        y = cv2.resize(x, (wide, high))
        borders = down // 2, down - down // 2, across // 2, across - across // 2
        return cv2.copyMakeBorder(y, *borders, cv2.BORDER_CONSTANT, value=(114, 114, 114))

    peer("letterbox", letterbox)

    def resize_crop_mirror(x):
        scale = 256 / min(x.shape[:2])
        y = cv2.resize(x, (round(x.shape[1] * scale), round(x.shape[0] * scale)))
        top, left = (y.shape[0] - 224) // 2, (y.shape[1] - 224) // 2
        return cv2.flip(y[top : top + 224, left : left + 224], 1)

    def random_resized_crop(x):
        height, width = RANDOM.integers(180, 384, 2)
        top, left = RANDOM.integers(0, x.shape[0] - height + 1), RANDOM.integers(0, x.shape[1] - width + 1)
        return cv2.resize(x[top : top + height, left : left + width], (224, 224))

    peer("resize_crop_mirror", resize_crop_mirror)
    peer("random_resized_crop", random_resized_crop)
    turned = np.array([[0.97, 0.26, -58.6], [-0.26, 0.97, 74.9]])
    tilted = np.array([[1, 0.1, -10], [0.05, 1, 5], [1e-4, 2e-4, 1]])
    inverse = lambda x, matrix, how: cv2.warpAffine(x, matrix, x.shape[1::-1], flags=how | cv2.WARP_INVERSE_MAP)
    for kind in ("linear", "nearest"):
        peer(f"warp_affine {kind}", lambda x, how=at[kind]: inverse(x, turned, how))
        peer(f"remap {kind}", lambda x, a, b, how=at[kind]: cv2.remap(x, a, b, how))
    how = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    reflected = {"flags": how, "borderMode": cv2.BORDER_REFLECT_101}
    peer("warp_affine cubic", lambda x: cv2.warpAffine(x, turned, x.shape[1::-1], **reflected))
    spin = lambda x: cv2.getRotationMatrix2D((x.shape[1] / 2 - 0.5, x.shape[0] / 2 - 0.5), 15, 1.0)
    peer("rotate", lambda x: cv2.warpAffine(x, spin(x), x.shape[1::-1]))
    how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    peer("warp_perspective", lambda x: cv2.warpPerspective(x, tilted, x.shape[1::-1], flags=how))


def assigned(x, key):
    y = x.copy()
    y[key] = 7
    return y


def moves():
    def centre(x):
        top, left = (x.shape[0] - 224) // 2, (x.shape[1] - 224) // 2
        return x[top : top + 224, left : left + 224].copy()

    def rectangle(x):
        y = x.copy()
        y[100:180, 100:180] = 0
        return y

    def pasted(x):
        height, width = round(x.shape[0] * 1.25), round(x.shape[1] * 1.25)
        top, left = (height - x.shape[0]) // 2, (width - x.shape[1]) // 2
        return border(x, top, height - x.shape[0] - top, left, width - x.shape[1] - left)

    def two(x, corners):
        y = np.zeros((700, 700, 3), x.dtype)
        y[: x.shape[0], : x.shape[1]] = x
        y[60 : 60 + x.shape[0], 60 : 60 + x.shape[1]] = x[:640, :640]
        return y

    border = lambda x, *sides: cv2.copyMakeBorder(x, *sides, cv2.BORDER_CONSTANT)
    numpy_peer("crop", centre)
    numpy_peer("slice", lambda x: x[50:350, 60:360].copy())
    numpy_peer("_subscript", lambda x: x[50:350, 60:360].copy())
    numpy_peer("_take", lambda x, at: x[at])
    numpy_peer("_select_where", lambda x, mask: x[mask])
    numpy_peer("_assign", lambda x: assigned(x, (slice(50, 350), slice(60, 360))))
    numpy_peer("_assign_at", assigned)
    numpy_peer("_assign_where", assigned)
    numpy_peer("_subscript step", lambda x: x[::2, ::2].copy())
    peer("flip", lambda x: cv2.flip(x, 1))
    peer("flip vertical", lambda x: cv2.flip(x, 0))
    peer("transpose", cv2.transpose)
    peer("transpose CHW", cv2.split)
    peer("cat", lambda a, b: cv2.vconcat([a, b]))
    numpy_peer("cat channels", lambda a, b: np.concatenate([a, b], 2))
    numpy_peer("stack", lambda a, b: np.stack([a, b]))
    peer("pad", lambda x: border(x, 0, 700 - x.shape[0], 0, 700 - x.shape[1]))
    peer("paste", pasted)
    numpy_peer("erase", rectangle)
    numpy_peer("multi_paste", two)
    numpy_peer("sequence_rearrange", lambda x: x[[3, 1, 0, 2]])
    numpy_peer("element_extract", lambda x: x[2].copy())
    for name in ("copy", "permute_batch"):
        numpy_peer(name, np.copy)


def converted(row, code):
    number = getattr(cv2, f"COLOR_{code}")
    peer(f"color_space_conversion {row}", lambda x: cv2.cvtColor(x, number))


def hsv(x):
    if x.dtype != np.uint8:
        h, s, v = cv2.split(cv2.cvtColor(x / np.float32(255), cv2.COLOR_RGB2HSV))
        return cv2.cvtColor(
            cv2.merge(((h + 10) % 360, np.minimum(s * np.float32(1.3), 1), v)), cv2.COLOR_HSV2RGB
        ) * np.float32(255)
    h, s, v = cv2.split(cv2.cvtColor(x, cv2.COLOR_RGB2HSV))
    return cv2.cvtColor(cv2.merge((cv2.LUT(h, HUES), cv2.LUT(s, MORE), v)), cv2.COLOR_HSV2RGB)


INDEX = np.arange(256)
HUES = ((INDEX + 5) % 180).astype(np.uint8)
MORE = np.clip(INDEX * 1.3, 0, 255).astype(np.uint8)
TABLE = np.minimum(1.2 * INDEX + 3, 255).astype(np.uint8)
REAL_TABLE = TABLE.astype(np.float32)


def linear(a, b):
    """a * x + b in the type of x."""
    table = np.clip(np.rint(a * INDEX + b), 0, 255).astype(np.uint8)

    def function(x):
        if x.dtype == np.uint8:
            return cv2.LUT(x, table)
        return cv2.addWeighted(x, a, x, 0, b)

    return function


def twist(x):
    matrix = np.array([[1.1, -0.05, 0.02, 3], [-0.03, 1.1, 0.01, 3], [0.02, -0.02, 1.15, 3]], np.float32)
    return cv2.transform(x, matrix)


def values():
    numpy_peer("cast", lambda x: x.astype(np.float32))
    numpy_peer("cast_like", lambda x, y: x.astype(np.float32))
    peer("cast to uint8", lambda x: cv2.add(x, 0, dtype=cv2.CV_8U))

    def white(x):
        out = np.empty((3, *x.shape[:2]), np.float32)
        for c, plane in enumerate(cv2.split(x)):
            cv2.addWeighted(plane, 1 / 58, plane, 0, -123 / 58, dst=out[c], dtype=cv2.CV_32F)
        return out

    peer("crop_mirror_normalize", white)
    peer("brightness", linear(1.2, 0.0), "uint8: a table")
    peer("contrast", linear(0.9, 12.8), "uint8: a table")
    peer("brightness_contrast", linear(1.08, 15.36), "uint8: a table")
    peer("hue", twist, "a matrix")
    peer("saturation", twist, "a matrix")
    peer("hsv", hsv, "in HSV; uint8: tables")
    peer("color_twist", twist, "a matrix")
    for kind, code in (("gray", cv2.COLOR_RGB2GRAY), ("bgr", cv2.COLOR_RGB2BGR), ("ycbcr", cv2.COLOR_RGB2YCrCb)):
        peer(f"color_space_conversion {kind}", lambda x, code=code: cv2.cvtColor(x, code))
    NOTES["color_space_conversion ycbcr"] = "full range"
    for space in ("HSV", "HLS", "Lab", "Luv", "XYZ", "YCrCb"):
        converted(f"RGB to {space}", f"RGB2{space}")
        converted(f"{space} to RGB", f"{space}2RGB")
    for target in ("RGB", "BGRA", "GRAY"):
        converted(f"RGBA to {target}", f"RGBA2{target}")
    converted("RGB to RGBA", "RGB2RGBA")
    converted("RGB to I420", "RGB2YUV_I420"), converted("RGB to YUYV", "RGB2YUV_YUYV")
    converted("NV12 to RGB", "YUV2RGB_NV12"), converted("I420 to RGBA", "YUV2RGBA_I420")
    converted("YUYV to RGB", "YUV2RGB_YUYV")
    peer("lookup_table", lambda x: cv2.LUT(x, TABLE))
    peer("lookup_table float32", lambda x: cv2.LUT(x, REAL_TABLE))
    peer("equalize", lambda x: cv2.merge([cv2.equalizeHist(c) for c in cv2.split(x)]))

    def lightness(x):
        lab = cv2.cvtColor(x, cv2.COLOR_RGB2LAB)
        lab[..., 0] = cv2.createCLAHE(2.0, (8, 8)).apply(lab[..., 0])
        return cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)

    peer("clahe", lambda x: cv2.createCLAHE(2.0, (8, 8)).apply(x))
    peer("clahe color", lightness)
    counts = lambda x: [cv2.calcHist([x], [k], None, [256], [0, 256]) for k in range(3)]
    peer("histogram", counts)
    peer("histogram float32", counts)
    peer("debayer", lambda x: cv2.cvtColor(x, cv2.COLOR_BayerRGGB2RGB))
    peer("encoders.jpeg", lambda x: cv2.imencode(".jpg", x, [cv2.IMWRITE_JPEG_QUALITY, 90]))
    peer("encoders.png", lambda x: cv2.imencode(".png", x))
    peer("encoders.webp", lambda x: cv2.imencode(".webp", x, [cv2.IMWRITE_WEBP_QUALITY, 80]))
    numpy_peer("where", np.where)
    peer("jpeg_compression_distortion", jpeg)
    numpy_peer("one_hot", lambda x: (x[:, None] == np.arange(80, dtype=np.int32)).astype(np.float32))


def jpeg(x):
    return cv2.imdecode(cv2.imencode(".jpg", x, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_COLOR)


def noises():
    def gaussian(x):
        noise = np.empty(x.shape, np.float32)
        cv2.randn(noise, 0, 10)
        return cv2.add(x, noise, dtype=cv2.CV_8U if x.dtype == np.uint8 else cv2.CV_32F)

    def shot(x):
        noisy = RANDOM_OF.poisson(x * np.float32(0.1)) * 10
        return np.clip(noisy, 0, 255).astype(np.uint8) if x.dtype == np.uint8 else noisy.astype(np.float32)

    def salt(x):
        y, drawn = x.copy(), RANDOM_OF.random(x.shape[:2], np.float32)
        y[drawn < 0.02] = 0
        y[drawn > 0.98] = 255
        return y

    peer("noise.gaussian", gaussian)

    def speckle(x):
        noise = np.empty(x.shape, np.float32)
        cv2.randn(noise, 1, 0.1)
        return cv2.multiply(x, noise, dtype=cv2.CV_8U if x.dtype == np.uint8 else cv2.CV_32F)

    peer("noise.speckle", speckle)
    numpy_peer("noise.shot", shot)
    numpy_peer("noise.salt_and_pepper", salt)


class RANDOM_OF:
    """A generator for each call: calls run on several threads."""

    poisson = staticmethod(lambda x: np.random.default_rng(1).poisson(x))
    random = staticmethod(lambda *a: np.random.default_rng(1).random(*a))


def displaced(function):
    """A remap by positions that NumPy computes, as a program with OpenCV would."""
    maps = {}

    def call(x):
        if x.shape[:2] not in maps:
            grid = np.mgrid[: x.shape[0], : x.shape[1]].astype(np.float32)
            maps[x.shape[:2]] = [np.ascontiguousarray(m, np.float32) for m in function(*grid)]
        return cv2.remap(x, *maps[x.shape[:2]], cv2.INTER_NEAREST)

    return call


def windows():
    waves = lambda y, x: (x + 10 * np.sin(0.049087 * y), y + 10 * np.cos(0.049087 * x))
    peer("water", displaced(waves), "positions made once")
    peer("sphere", displaced(lambda y, x: (x + 0.1 * (x - 256), y + 0.1 * (y - 256))), "positions made once")
    shaken = lambda y, x: (x + RANDOM.integers(-2, 3, x.shape), y + RANDOM.integers(-2, 3, y.shape))
    peer("jitter", displaced(shaken), "positions made once")
    for side in (5, 31):
        peer(f"gaussian_blur {side}", lambda x, n=side: cv2.GaussianBlur(x, (n, n), 0))
    for side in (3, 15):
        peer(f"box_blur {side}", lambda x, n=side: cv2.blur(x, (n, n)))

    def elastic(x):
        grid = np.mgrid[: x.shape[0], : x.shape[1]].astype(np.float32)
        moved = []
        for axis in (1, 0):
            noise = np.empty(x.shape[:2], np.float32)
            cv2.randu(noise, -1, 1)
            moved.append(grid[axis] + np.float32(30) * cv2.GaussianBlur(noise, (0, 0), 5))
        return cv2.remap(x, *moved, cv2.INTER_LINEAR)

    peer("elastic_transform", elastic, "another generator")
    peer("canny", lambda x: cv2.Canny(x, 50, 150))
    peer("laplacian 1", lambda x: cv2.Laplacian(x, cv2.CV_32F, ksize=1))
    for side in (3, 7):
        depth = lambda x: cv2.CV_16S if x.dtype == np.uint8 else cv2.CV_32F
        peer(f"sobel {side}", lambda x, n=side: cv2.Sobel(x, depth(x), 1, 0, ksize=n))
        peer(f"laplacian {side}", lambda x, n=side: cv2.Laplacian(x, cv2.CV_32F, ksize=n))
        taps = np.random.default_rng(3).random((side, side), np.float32) * np.float32(2 / side**2)
        peer(f"correlate {side}", lambda x, taps=taps: cv2.filter2D(x, -1, taps))
    for side in (3, 5, 15):
        peer(f"median_blur {side}", lambda x, n=side: cv2.medianBlur(x, n))
    for name, side in (("dilate", 3), ("erode", 9), ("dilate", 31)):
        mask = np.ones((side, side), np.uint8)
        peer(f"{name} {side}", lambda x, call=getattr(cv2, name), mask=mask: call(x, mask))
    for name, side in (("open", 3), ("close", 9), ("gradient", 3), ("tophat", 9)):
        operation, mask = getattr(cv2, f"MORPH_{name.upper()}"), np.ones((side, side), np.uint8)
        peer(f"morphology {name} {side}", lambda x, o=operation, mask=mask: cv2.morphologyEx(x, o, mask))
    for name in ("bilateral_filter", "bilateral_filter color"):
        peer(name, lambda x: cv2.bilateralFilter(x, 9, 30.0, 4.0))


def levels():
    for mode, kind in (("binary", cv2.THRESH_BINARY), ("tozero", cv2.THRESH_TOZERO)):
        peer(f"threshold {mode}", lambda x, kind=kind: cv2.threshold(x, 127, 255, kind))
    for method, kind in (("otsu", cv2.THRESH_OTSU), ("triangle", cv2.THRESH_TRIANGLE)):
        peer(f"find_threshold {method}", lambda x, kind=kind: cv2.threshold(x, 0, 255, kind), "also divides the image")
    for method, kind in (("mean", cv2.ADAPTIVE_THRESH_MEAN_C), ("gaussian", cv2.ADAPTIVE_THRESH_GAUSSIAN_C)):
        call = lambda x, kind=kind: cv2.adaptiveThreshold(x, 255, kind, cv2.THRESH_BINARY, 11, 2)
        peer(f"adaptive_threshold {method}", call)
    over = lambda a, b, m: b + (a - b.astype(np.float32)) * (m * np.float32(1 / 255 if m.dtype == np.uint8 else 1))
    numpy_peer("composite", lambda a, b, m: over(a, b, m).astype(a.dtype))
    peer("min_max_loc", cv2.minMaxLoc)

    def mixed(x):
        out = np.empty_like(x)
        cv2.mixChannels([x], [out], [2, 0, 0, 1, 1, 2])
        return out

    peer("channel_reorder", mixed)


def sums():
    rest = lambda x: x.reshape(-1, x.shape[-1])
    square = lambda x: np.float32(cv2.norm(x, cv2.NORM_L2SQR) / x.size)
    spread = lambda x, m: [v**2 for v in cv2.meanStdDev(x)[1]]
    peer("reductions.sum", cv2.sumElems, "in float64")
    peer("reductions.mean", cv2.mean, "in float64")
    peer("reductions.mean_square", lambda x: [square(p) for p in cv2.split(x)], "in float64")
    peer("reductions.rms", lambda x: [np.sqrt(square(p)) for p in cv2.split(x)], "in float64")
    peer("reductions.min", lambda x: cv2.reduce(rest(x).reshape(-1, 1, 3), 0, cv2.REDUCE_MIN))
    peer("reductions.max", lambda x: cv2.reduce(rest(x).reshape(-1, 1, 3), 0, cv2.REDUCE_MAX))
    peer("reductions.variance", spread, "finds the mean too")
    peer("reductions.std_dev", spread, "finds the mean too")
    peer("reductions.sum all", lambda x: sum(cv2.sumElems(x)), "in float64")
    peer("reductions.mean all", lambda x: sum(cv2.mean(x)) / 3, "in float64")
    peer("reductions.mean_square all", square, "in float64")
    peer("reductions.rms all", lambda x: np.sqrt(square(x)), "in float64")
    numpy_peer("reductions.min all", np.min)
    numpy_peer("reductions.max all", np.max)

    def normalize(x):
        mean, deviation = (v.astype(np.float32).ravel() for v in cv2.meanStdDev(x))
        return (x - mean) / deviation

    peer("normalize", normalize)
    numpy_peer("normalize sound", lambda x: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True))


HANN = np.hanning(400).astype(np.float32)
COSINES = np.cos(np.pi / 257 * (np.arange(257) + 0.5) * np.arange(20)[:, None]).astype(np.float32)
FILTERS = np.maximum(0, 1 - np.abs(np.arange(257) - np.linspace(0, 257, 80)[:, None]) / 3.2).astype(np.float32)


def spectrogram(x):
    rows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 256, "reflect"), 400)[::256] * HANN
    spectrum = np.fft.rfft(rows, 512)
    return np.ascontiguousarray((spectrum.real**2 + spectrum.imag**2).T)


def emphasised(x):
    y = x.copy()
    y[1:] -= np.float32(0.97) * x[:-1]
    return y


def signals():
    numpy_peer("preemphasis_filter", emphasised)
    numpy_peer("spectrogram", spectrogram)
    numpy_peer("power_spectrum", lambda x: np.abs(np.fft.rfft(x, axis=0)) ** 2)
    numpy_peer("mel_filter_bank", lambda x: FILTERS @ x, "a dense product")
    numpy_peer("mfcc", lambda x: COSINES @ x, "a dense product")
    floor = np.float32(1e-8)
    numpy_peer("to_decibels", lambda x: np.float32(10) * np.log10(np.maximum(x, floor)))
    if importlib.util.find_spec("scipy"):
        from scipy import signal

        resample = lambda x: signal.resample_poly(x, 441, 320)
        peer("audio_resample", resample, "another filter", "SciPy")


def made():
    shape = (512, 512, 3)
    fresh = lambda: np.random.default_rng(1)
    numpy_peer("random.uniform", lambda x: fresh().random(shape, np.float32) * np.float32(2) - np.float32(1))
    numpy_peer("random.normal", lambda x: fresh().standard_normal(shape, np.float32))
    numpy_peer("random.coin_flip", lambda x: fresh().integers(0, 2, shape, np.int32))
    numpy_peer("random.beta", lambda x: fresh().beta(2.0, 1.0, (128, 128)).astype(np.float32))
    numpy_peer("random.choice", lambda x: x[fresh().integers(0, len(x), shape)])
    numpy_peer("full", lambda x: np.full(shape, x))
    numpy_peer("full_like", lambda x, v: np.full(x.shape, v))
    numpy_peer("zeros", lambda x: np.full(shape, np.float32(0)), "writes them; np.zeros leaves that to the first read")
    numpy_peer("ones", lambda x: np.ones(shape, np.float32))
    numpy_peer("zeros_like", lambda x: np.full(x.shape, x.dtype.type(0)))
    numpy_peer("ones_like", np.ones_like)
    numpy_peer("decoders.numpy", lambda x: np.lib.format.read_array(io.BytesIO(x.tobytes())))
    peer("nms", lambda b, s: cv2.dnn.NMSBoxes(np.hstack([b[:, :2], b[:, 2:] - b[:, :2]]), s, 0.0, 0.5))
    numpy_peer("coord_transform", lambda x: x @ MATRIX.T + OFFSET)
    numpy_peer("coord_flip", lambda x: np.float32([512, 0]) - x * np.float32([1, -1]))
    numpy_peer("bb_flip", lambda b: np.stack([1 - b[:, 2], b[:, 1], 1 - b[:, 0], b[:, 3]], 1))
    numpy_peer("bbox_paste", lambda b: b * np.float32(0.8) + np.float32(0.1))
    numpy_peer("transforms.translation", lambda m: combined(np.float32([[1, 0, 3], [0, 1, 4]]), m))
    numpy_peer("transforms.scale", lambda m: combined(np.float32([[1.5, 0, 0], [0, 2, 0]]), m))
    numpy_peer("transforms.rotation", lambda m: combined(cv2.getRotationMatrix2D((0, 0), -15, 1).astype(np.float32), m))
    numpy_peer("transforms.shear", lambda m: combined(np.float32([[1, 0.1, 0], [0.2, 1, 0]]), m))
    numpy_peer("transforms.crop", lambda m: combined(np.float32([[2, 0, 0], [0, 3, 0]]), m))
    numpy_peer("transforms.combine", lambda a, b: combined(b, a))


def drawn(draw):
    """A copy of a picture with something over it."""

    def call(x, *rest):
        made = x.copy()
        draw(made, *rest)
        return made

    return call


def drawings():
    drops = np.random.default_rng(3).integers(0, 480, (400, 2))
    lines = np.hstack([drops, drops[::-1]])[:64].tolist()

    def boxes(x, rows):
        for a, b, c, d in rows.astype(int).tolist():
            cv2.rectangle(x, (a, b), (c, d), (0, 255, 0), 2)

    def segments(x):
        for a, b, c, d in lines:
            cv2.line(x, (a, b), (c, d), (255, 0, 0))

    def points(x):
        for place in drops[:64].tolist():
            cv2.circle(x, place, 4, (255, 0, 0), -1)

    def text(x):
        for place in drops[:16].tolist():
            cv2.putText(x, "Penstock", place, cv2.FONT_HERSHEY_PLAIN, 2, (255, 255, 255))

    def blurred(x, rows):
        for a, b, c, d in rows.astype(int).tolist():
            x[b:d, a:c] = cv2.blur(x[b:d, a:c], (15, 15))

    peer("draw_boxes", drawn(boxes))
    peer("draw_lines", drawn(segments))
    peer("draw_circles", drawn(points))
    peer("draw_text", drawn(text), "strokes of a vector font")
    peer("box_blur_regions", drawn(blurred), "of the box alone")
    peer("label", lambda m: cv2.connectedComponents((m != 0).astype(np.uint8))[1])
    peer("min_area_rect", cv2.minAreaRect)
    peer("find_homography ransac", lambda a, b: cv2.findHomography(a, b, cv2.RANSAC, 3.0)[0])
    peer("inpaint", lambda x, m: cv2.inpaint(x, m, 3, cv2.INPAINT_TELEA), "pixel by pixel, by their distance")
    peer("sift", lambda x: cv2.SIFT_create().detectAndCompute(x, None)[1])
    peer("find_contours", lambda m: cv2.findContours(m, cv2.RETR_TREE, cv2.CHAIN_APPROX_SIMPLE)[0])
    turn = np.pi / 180
    peer("hough_lines", lambda m: cv2.HoughLines(cv2.Canny(m, 100, 200), 1, turn, 100))
    peer("hough_circles", lambda m: cv2.HoughCircles(m, cv2.HOUGH_GRADIENT, 1, 20, None, 100, 40, 0, 60))
    peer("hough_lines_p", lambda m: cv2.HoughLinesP(cv2.Canny(m, 100, 200), 1, turn, 50, minLineLength=20))
    peer("match", lambda a, b: cv2.BFMatcher(cv2.NORM_L2).match(a, b))
    peer("match hamming", lambda a, b: cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(a, b))
    peer("find_homography", lambda a, b: cv2.findHomography(a, b, 0)[0])


MATRIX, OFFSET = np.float32([[1, 0.2], [-0.2, 1]]), np.float32([3, 5])


def combined(a, b):
    return np.column_stack([a[:, :2] @ b[:, :2], a[:, :2] @ b[:, 2] + a[:, 2]])


for part in (signs, resampling, moves, values, noises, windows, levels, sums, signals, made, drawings):
    part()
