# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that NumPy computes: a Fourier transform of an image, its segments, and swaps of its pixels one after the other.
In a pipeline they are functions of Python, which run on the CPU."""

import numpy as np

from .. import _core, fn
from ..augment import draws, numbers
from ..augment.samples import extents
from .._base.element_types import DType
from . import drawn
from .colors import largest, rank
from .geometry import integer, interpolation
from .references import of_reference


def computed(function, image, *further):
    """function(image, ...) of arrays, an image of the same layout."""
    layout = "HWC" if rank(image) == 3 else "HW"
    if drawn.is_node(image):
        return fn.reshape(fn.python_function(image, *further, function=function), layout=layout)
    arrays = [v.numpy() if hasattr(v, "numpy") else np.asarray(v) for v in (image, *further)]
    return _core.tensor(np.ascontiguousarray(function(*arrays)), layout=layout)


def _with_amplitudes(image, reference, beta):
    """The image with the amplitudes that another one has at low frequencies (Yang and Soatto, 2020)."""
    shape, image = image.shape, np.float64(image).reshape(*image.shape[:2], -1)
    spectrum, other = (np.fft.fft2(v.reshape(image.shape), axes=(0, 1)) for v in (image, np.float64(reference)))
    border = int(min(image.shape[:2]) * float(np.ravel(beta)[0]) + 1e-6)
    low = []
    for extent in image.shape[:2]:  # of a spectrum whose middle is 0, as Albumentations has it
        begin, end = (int(min(max((extent - 1) / 2 + far, 0), extent)) for far in (-border, border))
        low.append((np.arange(begin, end) - extent // 2) % extent)
    low = np.ix_(*low)
    own = spectrum[low]
    size = np.abs(own)
    direction = np.divide(own, size, out=np.ones_like(own), where=size > 0)
    spectrum[low] = np.abs(other[low]) * direction
    return np.float32(np.fft.ifft2(spectrum, axes=(0, 1)).real).reshape(shape)


def fourier_adaptation(x, a):
    beta, extent = draws.uniform(*a.beta_limit), extents(x)
    if not 0 <= a.beta_limit[0] <= a.beta_limit[1] <= 0.5:
        raise ValueError(f"FDA: beta_limit must be within 0 and 0.5, got {a.beta_limit!r}")
    most = largest(x)

    def adapted(reference):
        if reference.ndim != rank(x.pixels):
            raise ValueError(f"FDA: read_fn gives {reference.ndim} dimensions, the image has {rank(x.pixels)}")
        picture = fn.reshape(np.ascontiguousarray(reference), layout="HWC" if reference.ndim == 3 else "HW")
        picture = fn.resize(picture, size=[*extent], antialias=False, dtype=DType.FLOAT)

        def changed(image):
            made = computed(_with_amplitudes, image, picture, beta if drawn.is_node(beta) else np.float32([beta]))
            return drawn.as_type_of(drawn.clipped_values(made, 0.0, most), image)

        return x.with_images(changed)

    return of_reference(a, adapted)


_COMPACTNESS, _ROUNDS = 10, 10


def _segments(pixels, count):
    """(H, W): the number of the segment of each pixel, by simple linear iterative clustering (Achanta et al., 2012)."""
    height, width = pixels.shape[:2]
    step = max(int((height * width / count) ** 0.5), 1)
    scaled = pixels.astype(np.float32) / np.max(pixels + 1e-6)
    y, x = np.meshgrid(*(np.arange(step // 2, n, step) for n in (height, width)), indexing="ij")
    centers = np.stack([y.ravel(), x.ravel()], 1)
    far = np.arange(-step, step + 1) ** 2
    away = _COMPACTNESS * ((far[:, None] + far) / step**2)
    labels, nearest = np.full((height, width), -1), np.full((height, width), np.inf)
    rows, columns = np.indices((height, width))
    for _ in range(_ROUNDS):
        for k, (y, x) in enumerate(centers):
            top, left = max(0, y - step), max(0, x - step)
            here = slice(top, y + step + 1), slice(left, x + step + 1)
            part = scaled[here]
            begin, end = (top - y + step, left - x + step), part.shape
            apart = part - scaled[y, x]
            distance = np.einsum("yxc,yxc->yx", apart, apart)
            distance = distance + away[begin[0] : begin[0] + end[0], begin[1] : begin[1] + end[1]]
            nearer = distance < nearest[here]
            nearest[here][nearer], labels[here][nearer] = distance[nearer], k
        at = labels.ravel() + 1  # 0: pixels that no center has reached
        number = np.bincount(at, minlength=len(centers) + 1)[1:]
        sums = [np.bincount(at, v.ravel(), len(centers) + 1)[1:] for v in (rows, columns)]
        there = number > 0
        centers[there] = np.stack([s[there] / number[there] for s in sums], 1)  # rounded down
    return labels


def _averaged(image, parts, count):
    """Segments of an image, of which a part is drawn, in their mean color."""
    share, rng = float(parts[0]), np.random.default_rng([int(v * 2**24) for v in parts[1:]])
    pixels = image.reshape(*image.shape[:2], -1)
    labels = _segments(pixels, int(np.ravel(count)[0])) + 1
    number = np.bincount(labels.ravel())
    made = np.float32(pixels)
    chosen = (rng.random(len(number)) < share)[labels]
    for channel in range(made.shape[2]):
        mean = np.bincount(labels.ravel(), made[..., channel].ravel()) / np.maximum(number, 1)
        made[..., channel] = np.where(chosen, mean[labels], made[..., channel])
    made = made if image.dtype != np.uint8 else np.rint(made).astype(np.uint8)
    return made.astype(image.dtype).reshape(image.shape)


def superpixels(x, a):
    if a.p_replace[1] <= 0:
        return x
    if a.max_size is not None and a.max_size < 1:
        raise ValueError(f"Superpixels: max_size must be positive, got {a.max_size!r}")
    count = integer(tuple(int(n) for n in a.n_segments))
    parts = drawn.uniform(3)
    share = draws.uniform(*a.p_replace)
    parts = fn.cat(drawn.shaped(share, 1), parts, axis=0) if drawn.is_node(parts) else np.append(share, parts)
    extent, kinds = extents(x), {"interp_type": interpolation(a), "antialias": False, "subpixel_scale": False}
    scale = 1.0 if a.max_size is None else numbers.least(a.max_size / (numbers.greatest(*extent) * 1.0), 1.0)
    small = [numbers.greatest(numbers.floor(n * scale + 1e-4), 1.0) for n in extent]

    def segmented(image):
        made = image if a.max_size is None else fn.resize(image, size=small, **kinds)
        made = computed(_averaged, made, parts, count if drawn.is_node(count) else np.int64([count]))
        return made if a.max_size is None else fn.resize(made, size=[*extent], **kinds)

    return x.with_images(segmented)


def _swapped_at_once(shape, reach, steps):
    """(H * W,): the pixel that each place gets by one round of swaps of Albumentations' mode 'fast', which reads all pixels before it
    writes any. A place that several pixels go to keeps the last one."""
    height, width = shape
    source = np.arange(height * width)
    inner = source.reshape(shape)[reach + 1 : height - reach + 1, reach + 1 : width - reach + 1][::-1, ::-1].T
    here = inner.ravel()
    there = here + (steps[:, 0].astype(np.int32) * width + steps[:, 1])
    inner[...] = there.reshape(inner.shape)
    source[there] = here
    return source


def _swapped_in_turn(shape, reach, steps, whole):
    """The same of mode 'exact'. Albumentations assigns views there: of an image with several channels, a pixel is replaced, not swapped."""
    height, width = shape
    source = list(range(height * width))
    inner = np.arange(height * width).reshape(shape)[reach + 1 : height - reach + 1, reach + 1 : width - reach + 1]
    here = inner[::-1, ::-1].ravel()
    for at, to in zip(here.tolist(), (here + steps[:, 0].astype(int) * width + steps[:, 1]).tolist()):
        if whole:
            source[at], source[to] = source[to], source[at]
        else:
            source[at] = source[to]
    return np.array(source)


def _scattered(image, steps, reach, mode):
    """An image whose pixels are moved by `steps` (pixels, rounds, 2), as Albumentations moves them (Hendrycks and Dietterich, 2019)."""
    shape = image.shape[:2]
    pixels = image.reshape(shape[0] * shape[1], -1)
    source = None
    for k in range(steps.shape[1]):
        if mode == "fast":
            moved = _swapped_at_once(shape, reach, steps[:, k])
        else:
            moved = _swapped_in_turn(shape, reach, steps[:, k], pixels.shape[1] == 1)
        source = moved if source is None else source[moved]
    return np.take(pixels, source, axis=0).reshape(image.shape)


def glass_steps(shape, reach, rounds, seeds):
    """The distances (pixels, rounds, 2) from -reach to reach - 1, of the pixels that have all of them within the image."""
    count = max(shape[0] - 2 * reach, 0) * max(shape[1] - 2 * reach, 0)
    rng = np.random.default_rng([int(v * 2**24) for v in seeds])
    return rng.integers(-reach, reach, (count, rounds, 2), dtype=np.int16)


def glass_blur(x, a):
    if a.mode not in ("fast", "exact"):
        raise ValueError(f"GlassBlur: mode must be 'fast' or 'exact', got {a.mode!r}")
    sigma, reach, rounds = float(a.sigma), int(a.max_delta), int(a.iterations)
    if sigma < 0 or not 1 <= reach < 2**15 or rounds < 1:
        raise ValueError("GlassBlur: sigma must not be negative, max_delta within 1 and 32767 and iterations positive")
    window = round(sigma * (6 if largest(x) == 255.0 else 8) + 1) | 1  # as OpenCV chooses it for bytes, and for others
    blur = lambda v: fn.gaussian_blur(v, window_size=[window], sigma=[sigma]) if sigma > 0 else v  # noqa: E731
    seeds = drawn.uniform(3)

    def scattered(image, seeds):
        return _scattered(image, glass_steps(image.shape[:2], reach, rounds, seeds), reach, a.mode)

    return x.with_images(lambda image: blur(computed(scattered, blur(image), seeds)))
