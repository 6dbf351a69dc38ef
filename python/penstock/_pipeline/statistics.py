# SPDX-License-Identifier: Apache-2.0
"""What Pipeline.stats() and Pipeline.left_out() return."""

from __future__ import annotations

import html

from .advice import advise
from .ranks import compare
from .script_lines import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class LeftOut(tuple[int, int, str, str] if TYPE_CHECKING else tuple):
    """Holds a sample that on_error left out or replaced: a tuple (epoch, position, source, message).

    Args:
        epoch: The epoch.
        position: The position of the sample in the epoch.
        source: The file or record where it is known.
        message: Why the sample could not be read.
        batch: How many batches the pipeline had given before this one.
        number: The number of the sample in the batch that its source gave: 5 is still 5 where 3 was left out too.
    """

    epoch: int
    position: int
    source: str
    message: str
    batch: int
    number: int

    def __new__(cls, epoch: int, position: int, source: str, message: str, batch: int, number: int) -> LeftOut:
        self = super().__new__(cls, (epoch, position, source, message))
        self.epoch, self.position, self.source, self.message = epoch, position, source, message
        self.batch, self.number = batch, number
        return self

    def __getnewargs__(self) -> tuple[int, int, str, str, int, int]:
        return (self.epoch, self.position, self.source, self.message, self.batch, self.number)

    def __repr__(self) -> str:
        return (
            f"LeftOut(batch={self.batch}, number={self.number}, epoch={self.epoch}, position={self.position}, "
            f"source={self.source!r}, message={self.message!r})"
        )


_COLUMNS = ("seconds", "µs/sample", "p99 ms", "read", "decode", "pixels", "other")
_MOST_ROWS = 25


class Statistics(dict[str, Any] if TYPE_CHECKING else dict):
    """Holds the numbers of a running pipeline; printed, it is a table with what to change below it.

    Times are in seconds: `seconds` since the first run, `loop_waits` the waits of the loop for a batch,
        `threads_idle` and
    `threads_blocked` summed over the threads. For work on a GPU they are the time that it takes to enqueue it, for
    decoding there the time of the decoder. `device_bytes_in_use`: on the GPU. `stages`: name, seconds (summed over
    threads), of them read, decode, pixels, and samples; for assignments to a part of a value `copied_bytes`: of
    values that something else still needs, which are therefore not changed in place; `cache`: of a decoder with
    `cache_size`, how many pictures and bytes it keeps, and how often a picture was there (hits) or not (misses).
    `line`: of the program. `each`, `batches`: how many samples and batches of the stage there were, and the p50, p90,
    p99 and max of their seconds, right to 7 %; two pictures that a thread decodes together share their time by the
    bytes of their files. `slowest`: the slowest samples (seconds, source, epoch, position, and how often the source
    was among them). `reads`, `bytes_read`, `reads_waited` (for the medium), `reads_remote`. `lock`: seconds that a
    function or source of the program waited for Python's lock; `moved_bytes`: of inputs and outputs.
    `entropy_index`: samples whose
    index was made, used, or stale (the file has changed), the path of the file, and a note where nothing can be
    kept. `real_shares`, of a loader: the share of its padded outputs that is samples. `left_out`: samples that the
    error policy left out. `cores`: that the process may use; `process_seconds`: that it took of them in `seconds`.
    `by_thread`: seconds busy, idle, blocked; ran on a core and queued for one since it began. `ready`: how often
    0, 1, ... batches were ready when the loop asked for one. `loop_lock`: seconds that the loop waited for Python's
    lock when its batch was ready. `verdict`: what the loop waits for; `bottleneck` names it in one word
    (docs/how_to/why_is_my_pipeline_slow.md), `bottleneck_stage` is its number in `stages` or -1. `advice`: what to
    change, `changes`: the lines of the program (place, argument, old, new, text). `with_more_threads`,
    `with_data_in_memory`: how many times the rate would be at most with a thread for each core, and with data that
    need not be read.

    Args:
        numbers: What the pipeline counted.
        left_out: The samples that were left out.
        script: Where the lines of the program are found; None: no advice.
    """

    def __init__(self, numbers: dict[str, Any], left_out: list[LeftOut], script: Any = None) -> None:
        super().__init__(numbers)
        self["left_out"] = left_out
        text, changes = advise(self, script) if script is not None else ("", [])
        self["advice"], self["changes"] = text, [change.as_dict() for change in changes]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @staticmethod
    def compare(ranks: Sequence[Statistics]) -> str:
        """Returns which rank the others wait for, and why.

        Ranks that meet after each step have the same rate; the loop of the slow one waits for data, those of the
        others for the slow one. torch.distributed.all_gather_object(ranks, loader.stats()) collects the statistics.

        Args:
            ranks: The statistics of all ranks, in their order.

        Raises:
            ValueError: There are none.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def numbers():
            ...     return fn.random.uniform(range=[0.0, 1.0], shape=[3])
            >>> pipe = numbers()
            >>> _ = [pipe.run() for _ in range(3)]
            >>> ranks = [pipe.stats(), pipe.stats()]
            >>> type(ranks[0].compare(ranks)).__name__
            'str'
        """
        return compare(ranks)

    def _rate(self):
        return self["samples"] / self["seconds"] if self["seconds"] else 0.0

    def _rows(self):
        """(name, numbers, line) of the stages, those with most time first, without constants and what did nothing."""
        rows = []
        for stage in sorted(self["stages"], key=lambda s: -s["seconds"]):
            if stage.get("constant") or not (stage["seconds"] or stage["samples"]):
                continue
            other = max(0.0, stage["seconds"] - stage["read"] - stage["decode"] - stage["pixels"])
            micros = stage["seconds"] / stage["samples"] * 1e6 if stage["samples"] else 0.0
            slow = stage["each"]["p99"] * 1e3 if "each" in stage else 0.0
            numbers = (stage["seconds"], micros, slow, stage["read"], stage["decode"], stage["pixels"], other)
            rows.append((stage["name"], numbers, short(stage.get("line", ""))))
        if len(rows) > _MOST_ROWS:
            rest = rows[_MOST_ROWS - 1 :]
            sums = [sum(numbers[k] for _, numbers, _ in rest) for k in range(len(_COLUMNS))]
            sums[1] = sums[2] = 0.0
            rows[_MOST_ROWS - 1 :] = [(f"{len(rest)} more stages", tuple(sums), "")]
        return rows

    def _head(self):
        device = self["device_bytes_in_use"]
        threads = f"{self['threads']} thread{'s' * (self['threads'] != 1)}"
        if "cores" in self:
            cores = self["process_seconds"] / self["seconds"] if self["seconds"] else 0.0
            threads += f", {cores:.1f} of {self['cores']} cores used"
        lines = [
            f"{self['iterations']} batches, {self['samples']} samples in {self['seconds']:.2f} s "
            f"({self._rate():.0f} samples/s), {threads}",
            f"the loop waited {self['loop_waits']:.2f} s; threads idle {self['threads_idle']:.2f} s, "
            f"blocked {self['threads_blocked']:.2f} s; memory {self['bytes_held'] / 1e6:.1f} MB"
            + (f", on the GPU {device / 1e6:.1f} MB" if device else ""),
        ]
        read = sum(stage.get("bytes_read", 0) for stage in self["stages"])
        if read:
            waits = sum(stage["read"] for stage in self["stages"])
            rate = read / self["seconds"] / 1e6 if self["seconds"] else 0.0
            lines.append(f"read {read / 1e6:.1f} MB, {rate:.1f} MB/s; {waits:.2f} s of the threads in reads")
        return lines

    def _tail(self):
        lines = []
        index = self["entropy_index"]
        if index["path"]:
            lines.append(
                f"entropy index: {index['made']} made, {index['used']} used, {index['stale']} stale; "
                f"{index['path']}{' (' + index['note'] + ')' if index['note'] else ''}"
            )
        if self["left_out"]:
            lines.append(f"{len(self['left_out'])} samples left out")
        for name, share in self.get("real_shares", {}).items():
            lines.append(f"{share:.3f} of output {name!r} is samples, the rest is padding")
        return [*lines, self["verdict"], *([self["advice"]] if self["advice"] else [])]

    def _repr_html_(self) -> str:
        def row(kind, cells):
            return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"

        rows = [row("th", ["stage", *_COLUMNS, "line"])]
        rows += [row("td", [name, *map(_number, numbers), line]) for name, numbers, line in self._rows()]
        before, after = ("".join(f"<div>{html.escape(t)}</div>" for t in part) for part in (self._head(), self._tail()))
        return f"{before}<table>{''.join(rows)}</table>{after}"

    def __str__(self) -> str:
        rows = self._rows()
        width = min(60, max([44, *(len(name) for name, _, _ in rows)]))
        lines = [*self._head(), f"{'stage':<{width}} " + " ".join(f"{c:>9}" for c in _COLUMNS) + "  line"]
        for name, numbers, line in rows:
            shown = name if len(name) <= width else name[: width - 1] + "…"
            lines.append(f"{shown:<{width}} " + " ".join(f"{_number(n):>9}" for n in numbers) + f"  {line}".rstrip())
        return "\n".join([*lines, *self._tail()])


def _number(value):
    return f"{value:.1f}" if value >= 1000 else f"{value:.2f}"
