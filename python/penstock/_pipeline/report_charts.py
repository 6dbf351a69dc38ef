# SPDX-License-Identifier: Apache-2.0
"""Bars of the report, as SVG."""

from __future__ import annotations

import html

_WIDTH, _LABEL, _VALUE, _ROW = 1000, 330, 90, 26
_MOST_LETTERS = 46


def _shown(name):
    return html.escape(name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…")


def _row(y, name, inside, value):
    return (
        f'<text x="0" y="{y + 17}">{_shown(name)}<title>{html.escape(name)}</title></text>{inside}'
        f'<text x="{_WIDTH}" y="{y + 17}" text-anchor="end" class="soft">{html.escape(value)}</text>'
    )


def _svg(rows, title):
    height = _ROW * len(rows) + 4
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{title}">{"".join(rows)}</svg>'


def bars(rows, kinds):
    """Bars of parts. rows: (name, the length of each part, text on the right); kinds: names of the parts' colors."""
    most = max((sum(lengths) for _, lengths, _ in rows), default=0.0) or 1.0
    room = _WIDTH - _LABEL - _VALUE
    made = []
    for i, (name, lengths, value) in enumerate(rows):
        x, inside = float(_LABEL), ""
        for kind, length in zip(kinds, lengths):
            width = room * length / most
            if width > 0.05:
                inside += (
                    f'<rect x="{x:.1f}" y="{i * _ROW + 4}" width="{width:.1f}" height="18" style="fill:var(--{kind})">'
                    f"<title>{kind} {length:.3f} s</title></rect>"
                )
            x += width
        made.append(_row(i * _ROW, name, inside, value))
    return _svg(made, "bars of " + ", ".join(kinds))


def steps(rows):
    """Bars of counts. rows: (name, count)."""
    return bars([(name, [count], f"{count}") for name, count in rows], ["decode"]).replace(".000 s<", "<")


def legend(kinds):
    """The colors of bars()."""
    keys = "".join(
        f'<span style="margin-right:16px"><span style="display:inline-block;width:11px;height:11px;border-radius:2px;'
        f'background:var(--{kind});margin-right:5px"></span>{kind}</span>'
        for kind in kinds
    )
    return f'<p class="soft">{keys}</p>'
