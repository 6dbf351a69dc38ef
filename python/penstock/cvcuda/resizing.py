# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: resizing and cropping."""

from .. import fn
from .calls import Step, each, row
from .enumerations import Interp
from .operands import values_of

FILTERS = {
    Interp.NEAREST: "nearest",
    Interp.LINEAR: "linear",
    Interp.CUBIC: "cubic",
    Interp.LANCZOS: "lanczos3",
    Interp.GAUSSIAN: "gaussian",
    Interp.AREA: "area",
    Interp.HAMMING: "hamming",
    Interp.BOX: "box",
}


def filter_of(call, interp):
    """The name of a filter of fn.resize."""
    name = FILTERS.get(Interp(interp))
    if name is None:
        there = ", ".join(i.name for i in FILTERS)
        call.refuse(f"the interpolation {Interp(interp).name} is not there; {there} are")
    return name


def heights_and_widths(call, shape=None, sizes=None):
    """What fn.resize takes as size=: [height, width], or a batch of them. sizes: (width, height) of each image."""
    if call.want is not None:
        rows = call.want.sizes()
    elif sizes is not None:
        rows = [[int(h), int(w)] for w, h in sizes]
    else:
        layout = call.x.layout()
        letters = call.first.layout if len(shape) == call.first.ndim else layout
        if len(shape) != len(letters):
            call.refuse(f"shape has {len(shape)} extents for the layout {letters}")
        rows = [[int(shape[letters.index("H")]), int(shape[letters.index("W")])]]
    if any(h < 1 or w < 1 for h, w in rows):
        call.refuse(f"sizes must be positive, got {rows}")
    return each(values_of(rows), len(call.x), 2)


def size_of(call):
    """What fn.resize takes as size=, of the arguments shape or sizes, or of dst."""
    return heights_and_widths(call, getattr(call, "shape", None), getattr(call, "sizes", None))


@row(
    "T: src, shape, interp=Interp.LINEAR",
    "V: src, sizes, interp=Interp.LINEAR",
    by_dst=("shape", "sizes"),
    over=("resize",),
)
def resize(call):
    """Resizes images without antialiasing."""
    given = {"interp_type": filter_of(call, call.interp), "antialias": False}
    if call.interp == Interp.CUBIC:
        given |= {"compat": "opencv", "weights": "float32"}  # not OpenCV's integers
    return Step(fn.resize, call.x, size=size_of(call), **given)


@row(
    "T: src, shape, format=None, interp=Interp.LINEAR",
    "V: src, sizes, interp=Interp.LINEAR",
    by_dst=("shape", "sizes"),
    over=("resize",),
)
def pillowresize(call):
    """Resizes images with antialiasing, as Pillow does."""
    return Step(fn.resize, call.x, size=size_of(call), interp_type=filter_of(call, call.interp), outside="cut")


@row(
    *(
        f"{kind}: src, out_size, *, antialias=False, roi=None, interpolation=None, min_interpolation=None, mag_interpolation=None"
        for kind in "TVB"
    ),
    by_dst=("out_size",),
    over=("resize",),
)
def hq_resize(call):
    """Resizes images or volumes, or a region of each; a region that ends before it begins mirrors."""
    layout, given = call.x.layout(), {"antialias": bool(call.antialias)}
    axes = [a for a in layout if a in "DHW"]
    if call.want is not None:
        size = [[s[layout.index(a)] for a in axes] for s in call.want.shapes]
    else:
        size = call.out_size if isinstance(call.out_size[0], (tuple, list)) else [call.out_size]
    given["size"] = each(values_of([list(s) for s in size]), len(call.x), len(axes))
    chosen = Interp.LINEAR if call.interpolation is None else call.interpolation
    least, most = (chosen if i is None else i for i in (call.min_interpolation, call.mag_interpolation))
    if call.want is not None:
        given["dtype"] = str(call.want.dtype)
    given["min_filter"] = filter_of(call, least)
    given["mag_filter"] = filter_of(call, most)
    if call.roi is not None and len(call.roi):
        rois = call.roi if isinstance(call.roi[0], (tuple, list)) else [call.roi]
        rows = values_of([list(map(float, r)) for r in rois]).astype("float32")
        given["roi_start"] = each(rows[:, : len(axes)], len(call.x), len(axes))
        given["roi_end"] = each(rows[:, len(axes) :], len(call.x), len(axes))
    return Step(fn.resize, call.x, **given)


def _by_edge(extent, size, longest):
    """torchvision's size for a shorter edge, with a limit of the longer one."""
    short, long = min(extent), max(extent)
    wanted, other = (size, int(size * long / short)) if size is not None else (int(longest * short / long), longest)
    if longest is not None and other > longest:
        wanted, other = int(longest * wanted / other), longest
    return [wanted, other] if extent[0] <= extent[1] else [other, wanted]


@row(
    *(f"{kind}: src, size=None, interp=Interp.LINEAR, max_size=None, antialias=True" for kind in "TV"),
    by_dst=("size", "max_size"),
    over=("resize",),
)
def tvresize(call):
    """Resizes images as torchvision does; one number is the length of the shorter edge."""
    if call.want is not None:
        rows = call.want.sizes()
    else:
        size, longest = call.size, call.max_size
        size = list(size) if isinstance(size, (list, tuple)) else [] if size is None else [size]
        if len(size) == 2 and longest is not None:
            call.refuse("max_size is for one number as the size, the shorter edge")
        if not size and longest is None:
            call.refuse("give size or max_size")
        rows = [size if len(size) == 2 else _by_edge(e, size[0] if size else None, longest) for e in call.extents()]
    floors = call.interp == Interp.NEAREST_FLOOR
    filters = {"antialias": bool(call.antialias), "interp_type": "nearest" if floors else filter_of(call, call.interp)}
    filters |= {"compat": "torchvision"} if floors or call.interp == Interp.CUBIC else {"outside": "cut"}
    return Step(fn.resize, call.x, size=each(values_of(rows), len(call.x), 2), **filters)
