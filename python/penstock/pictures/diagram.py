# SPDX-License-Identifier: Apache-2.0
"""The graph of a pipeline as a picture: a box for what runs in one pass, with its operators, devices and copies."""

from __future__ import annotations

import html

from .layers import WIDEST, Box, arrange
from .steps import items_of, sources_of, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

_DEEPEST = 2  # conditions and loops in one another; what lies deeper is listed by name
_LETTER, _LINE, _EDGE, _TITLE = 6.7, 15, 10, 19
_COLORS = {  # (inside, border) by kind, of the CPU and of a GPU
    "step": (("#f4f6fa", "#7c8aa5"), ("#e2f3e4", "#4d9a57")),
    "stage": (("#dfe9f9", "#4a74b8"), ("#cdecd2", "#2f8a3f")),
    "decode": (("#dfe9f9", "#4a74b8"), ("#cdecd2", "#2f8a3f")),
    "copy": (("#fde8cc", "#d98a1e"), ("#fde8cc", "#d98a1e")),
    "output": (("#ffffff", "#555555"), ("#ffffff", "#2f8a3f")),
    "if": (("#fbf7ff", "#9b7cc4"), ("#fbf7ff", "#9b7cc4")),
    "loop": (("#fff8fb", "#c4668f"), ("#fff8fb", "#c4668f")),
}
_LEGEND = (("stage", False, "on the CPU"), ("stage", True, "on the GPU"), ("copy", False, "copy between them"))


class Diagram:
    """A picture as SVG, which notebooks show.

    Args:
        svg: The text of the SVG.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the SVG to a file, which a browser shows.

        Args:
            path: The file.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self):
        return self.svg

    def __repr__(self) -> str:
        return f"<Diagram of {len(self.svg)} bytes of SVG: save(path) writes it>"


def _text(x, y, text, size=11, color="#222", weight="normal"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" font-weight="{weight}">'
        f"{html.escape(text)}</text>"
    )


def _rectangle(x, y, width, height, colors, dashed=False):
    dash = ' stroke-dasharray="5 3"' if dashed else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" fill="{colors[0]}" '
        f'stroke="{colors[1]}"{dash}/>'
    )


def _colors(item):
    return _COLORS.get(item.kind, _COLORS["step"])[bool(item.on_gpu)]


def _curve(points):
    """A line from top to bottom with an arrow."""
    (x, y), *rest = points
    path = f"M{x:.1f} {y:.1f}"
    for u, v in rest:
        if u == x:
            path += f" V{v:.1f}"
            y = v
            continue
        path += f" C{x:.1f} {(y + v) / 2:.1f} {u:.1f} {(y + v) / 2:.1f} {u:.1f} {v:.1f}"
        x, y = u, v
    return f'<path d="{path}" fill="none" stroke="#666" marker-end="url(#arrow)"/>'


def _lines_of(item):
    """(text, whether it is an operator) of each line in the box of a step."""
    return [line for op, arguments in item.rows for line in [(op, True), *((a, False) for a in arguments)]]


class _Drawn:
    """An item as a box with what is drawn in it, in its own coordinates."""

    def __init__(self, item, depth):
        self.item, self.parts, self.depth = item, [], depth
        if item.bodies and depth < _DEEPEST:
            self._bodies()
        else:
            self._rows()

    def _rows(self):
        lines, y = _lines_of(self.item), _EDGE
        if self.item.bodies:
            lines = [(line, False) for line in wrapped(self.item.operators(), 4)]
        longest = max([len(t) + (0 if op else 2) for t, op in lines] + [len(self.item.title)], default=1)
        if self.item.title:
            y += 4
            self.parts.append(_text(_EDGE, y + 4, self.item.title, 10, _colors(self.item)[1], "bold"))
            y += _LINE - 4
        for k, (text, is_operator) in enumerate(lines):
            if is_operator and k and self.item.kind == "stage":
                self.parts.append(f'<path d="M{_EDGE} {y + 1} v6" stroke="#666" marker-end="url(#arrow)"/>')
                y += 9
            y += _LINE
            x, color = (_EDGE, "#111") if is_operator else (_EDGE + 2 * _LETTER, "#555")
            self.parts.append(_text(x, y - 3, text, 11, color, "bold" if is_operator else "normal"))
        self.width, self.height = longest * _LETTER + 2 * _EDGE, y + _EDGE - 2

    def _bodies(self):
        """The bodies side by side, or one below the other where they are wide."""
        drawn = [(name, *self._body(items)) for name, items in self.item.bodies]
        below = sum(width for _, width, _, _ in drawn) > WIDEST
        x, y, right, bottom = _EDGE, _TITLE, 0, 0
        for name, width, height, parts in drawn:
            self.parts.append(_text(x, y + 14, name, 10, "#777"))
            self.parts.append(f'<g transform="translate({x:.1f} {y + _LINE + 8:.1f})">{"".join(parts)}</g>')
            right, bottom = max(right, x + max(width, 5 * _LETTER)), max(bottom, y + _LINE + 8 + height)
            x, y = (x, bottom + 4) if below else (right + 2 * _EDGE, y)
        self.parts.append(_text(_EDGE, _TITLE - 3, self.item.title, 11, _colors(self.item)[1], "bold"))
        self.width = max(right, len(self.item.title) * _LETTER + _EDGE) + _EDGE
        self.height = bottom + _EDGE

    def _body(self, items):
        if items:
            return drawing(items, self.depth + 1)
        return 11 * _LETTER, _LINE, [_text(0, 12, "unchanged", 11, "#777")]

    def at(self, box):
        frame = _rectangle(0, 0, self.width, self.height, _colors(self.item), bool(self.item.bodies))
        return f'<g transform="translate({box.x:.1f} {box.y:.1f})">{frame}{"".join(self.parts)}</g>'


def drawing(items, depth=0):
    """(width, height, elements of SVG) of items, which lie in `depth` others, with the lines between them."""
    makers = {node: item for item in items for node in item.nodes}
    copies = {key: item for item in items for key in item.makes if isinstance(key, tuple)}
    drawn, boxes = {}, {}
    for item in items:
        drawn[item] = _Drawn(item, depth)
        above = [boxes[s] for s in sources_of(item, makers, copies) if s in boxes]
        boxes[item] = Box(drawn[item].width, drawn[item].height, above)
    width, height, lines = arrange(list(boxes.values()))
    return width, height, [*map(_curve, lines), *(drawn[item].at(box) for item, box in boxes.items())]


def _legend(items, y):
    """What the colors mean, where there is more than the CPU."""
    if not any(item.on_gpu or item.kind == "copy" for item in items):
        return []
    made, x = [], 0
    for kind, on_gpu, text in _LEGEND:
        made.append(_rectangle(x, y, 12, 12, _COLORS[kind][on_gpu]))
        made.append(_text(x + 17, y + 10, text, 10, "#555"))
        x += 17 + (len(text) + 3) * 6.2
    return made


def diagram_of(steps, nodes, outputs, on_gpu):
    """The Diagram of a pipeline.

    Args:
        steps: The steps of its plan.
        nodes: The nodes of its graph.
        outputs: [node, output] of each output.
        on_gpu: Whether each is on a GPU.
    """
    items = items_of(steps, nodes, outputs, on_gpu)
    width, height, parts = drawing(items)
    legend = _legend(items, height + 16)
    width, height = max(width, 330 if legend else 0) + 2 * _EDGE, height + (44 if legend else 16)
    return Diagram(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-_EDGE} -8 {width:.0f} {height:.0f}" font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace">'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#666"/></marker></defs>'
        f'<rect x="{-_EDGE}" y="-8" width="100%" height="100%" fill="white"/>{"".join([*parts, *legend])}</svg>\n'
    )
