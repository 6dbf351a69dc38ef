# SPDX-License-Identifier: Apache-2.0
"""What Pipeline.stats() and Pipeline.left_out() return."""

from __future__ import annotations

import html

TYPE_CHECKING = False
if TYPE_CHECKING:
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


class Statistics(dict[str, Any] if TYPE_CHECKING else dict):
    """Holds the numbers of a running pipeline; printed, it is a table.

    Times are in seconds: `seconds` since the first run, `loop_waits` the waits of the loop for a batch,
        `threads_idle` and
    `threads_blocked` summed over the threads. For work on a GPU they are the time that it takes to enqueue it, for
    decoding there the time of the decoder. `device_bytes_in_use`: on the GPU. `stages`: name, seconds (summed over
    threads), of them read, decode, pixels, and samples; for assignments to a part of a value `copied_bytes`: of
    values that something else still needs, which are therefore not changed in place; `cache`: of a decoder with
    `cache_size`, how many pictures and bytes it keeps, and how often a picture was there (hits) or not (misses).
    `entropy_index`: samples whose
    index was made, used, or stale (the file has changed), the path of the file, and a note where nothing can be
    kept. `real_shares`, of a loader: the share of its padded outputs that is samples. `left_out`: samples that the
    error policy left out. `verdict`: what the loop waits for.

    Args:
        numbers: What the pipeline counted.
        left_out: The samples that were left out.
    """

    def __init__(self, numbers: dict[str, Any], left_out: list[LeftOut]) -> None:
        super().__init__(numbers)
        self["left_out"] = left_out

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def __str__(self) -> str:
        rate = self["samples"] / self["seconds"] if self["seconds"] else 0.0
        device = self["device_bytes_in_use"]
        lines = [
            f"{self['iterations']} batches, {self['samples']} samples in {self['seconds']:.2f} s "
            f"({rate:.0f} samples/s), {self['threads']} threads",
            f"the loop waited {self['loop_waits']:.2f} s; threads idle {self['threads_idle']:.2f} s, "
            f"blocked {self['threads_blocked']:.2f} s; memory {self['bytes_held'] / 1e6:.1f} MB"
            + (f", on the GPU {device / 1e6:.1f} MB" if device else ""),
            f"{'stage':<44} {'seconds':>8} {'µs/sample':>10} {'read':>7} {'decode':>7} {'pixels':>7}",
        ]
        for stage in self["stages"]:
            each = stage["seconds"] / stage["samples"] * 1e6 if stage["samples"] else 0.0
            lines.append(
                f"{stage['name'][:44]:<44} {stage['seconds']:>8.2f} {each:>10.1f} {stage['read']:>7.2f} "
                f"{stage['decode']:>7.2f} {stage['pixels']:>7.2f}"
            )
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
        lines.append(self["verdict"])
        return "\n".join(lines)
