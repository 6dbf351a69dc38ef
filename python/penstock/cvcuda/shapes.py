# SPDX-License-Identifier: Apache-2.0
"""Rectangles and what can be drawn: records of the arguments that CV-CUDA's classes take."""

from .._base.limits import integer


class RectI:
    """A rectangle of integers.

    Example:
        >>> import penstock.cvcuda as cvcuda
        >>> cvcuda.RectI(x=2, y=1, width=8, height=4)
        RectI(x=2, y=1, width=8, height=4)
    """

    def __init__(self, x=0, y=0, width=0, height=0):
        self.x, self.y, self.width, self.height = map(integer, ("x", "y", "width", "height"), (x, y, width, height))

    def _values(self):
        return self.x, self.y, self.width, self.height

    def __eq__(self, other):
        return isinstance(other, RectI) and self._values() == other._values()

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return self._values() < other._values()

    def __hash__(self):
        return hash(self._values())

    def __repr__(self):
        return f"RectI(x={self.x}, y={self.y}, width={self.width}, height={self.height})"


_LONG = {  # the arguments of each class in their order, and what may be left out
    "BlurBoxI": "box kernelSize",
    "BlurBoxesI": "boxes",
    "BndBoxI": "box thickness borderColor fillColor",
    "BndBoxesI": "boxes",
    "Label": "utf8Text fontSize fontName=DejaVuSansMono tlPos fontColor bgColor",
    "Segment": "box thickness segArray segThreshold borderColor segColor",
    "Point": "centerPos radius color",
    "Line": "pos0 pos1 thickness color interpolation=1",
    "PolyLine": "points thickness isClosed borderColor fillColor interpolation=1",
    "RotatedBox": "centerPos width height yaw thickness borderColor bgColor interpolation=",
    "Circle": "centerPos radius thickness borderColor bgColor",
    "Arrow": "pos0 pos1 arrowSize thickness color interpolation=",
    "Clock": "clockFormat time fontSize font=DejaVuSansMono tlPos fontColor bgColor",
    "Elements": "elements",
}


def _made(name, text):
    parts = [p.partition("=") for p in text.split()]
    names = [p[0] for p in parts]
    defaults = {p[0]: p[2] if "font" in p[0] else bool(p[2]) for p in parts if p[1]}

    def __init__(self, *args, **named):
        given = {**defaults, **dict(zip(names, args)), **named}
        if len(args) > len(names) or set(given) != set(names):
            raise TypeError(f"{name} takes {', '.join(names)}; got {sorted({*dict(zip(names, args)), *named})}")
        self.__dict__.update(given)

    def __repr__(self):
        return f"{name}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    doc = f"What is drawn: {', '.join(names)}."
    return type(name, (), {"__init__": __init__, "__repr__": __repr__, "__doc__": doc, "__module__": __name__})


CLASSES = {name: _made(name, text) for name, text in _LONG.items()}
globals().update(CLASSES)
