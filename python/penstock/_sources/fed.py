# SPDX-License-Identifier: Apache-2.0
"""External sources that feed_input() feeds."""

import threading

from .. import _core


def as_batch(data, what="the source"):
    """What a source gives for one output, as a Batch."""
    try:
        return _as_batch(data, what)
    except TypeError as error:
        raise TypeError(f"[external_source] {error}") from None
    except ValueError as error:
        raise ValueError(f"[external_source] {error}") from None


def _as_batch(data, what):
    if isinstance(data, _core.Batch):
        return data
    if isinstance(data, (list, tuple)):
        for item in data:
            if (
                item is None
                or isinstance(item, (str, int, float, list, tuple))
                and not hasattr(item, "__array_interface__")
            ):
                raise TypeError(f"{what} gave a list with an item of type {type(item).__name__}: samples are arrays")
        return _core.fed_batch(data) if len(data) else _raise_empty(what)
    if data is None or isinstance(data, (str, bytes, int, float)) and not hasattr(data, "__array_interface__"):
        raise TypeError(
            f"{what} gave {type(data).__name__} for a batch: expected an array, a list of arrays or a Batch"
        )
    return _core.fed_batch(data)


def _raise_empty(what):
    raise ValueError(f"{what} gave an empty batch")


def add_fed(pipeline, name, fed):
    """Registers `fed` under a name for feed_input() of the pipeline."""
    pipeline.definition.fed.setdefault(name, fed)


class FedNode:
    """An external source that feed_input() feeds."""

    def __init__(self, node, outputs, repeat_last):
        self.node, self.outputs, self.repeat_last = node, outputs, repeat_last
        self.waiting, self.last, self.unread = 0, None, False

    def feed(self, executor, data, layout):
        batches = [as_batch(d, "feed_input()") for d in (data if self.outputs > 1 else [data])]
        if layout:
            batches = [_core.fed_batch(b, layout=layout) for b in batches]
        executor.feed(self.node, batches)
        self.waiting += 1
        self.last = batches if self.repeat_last else None

    def before_run(self, executor, graph):
        if self.waiting == 0:
            if self.unread:
                return
            if self.last is None:
                raise IndexError(
                    f"external source '{graph.name_of(self.node)}' was not fed: call feed_input() before run()"
                )
            executor.feed(self.node, self.last)
            self.waiting += 1
        self.waiting -= 1


class FedVideo(FedNode):
    """A video input. What is fed at once gives several iterations."""

    def __init__(self, node, blocking):
        super().__init__(node, 1, False)
        self.blocking, self.owed, self.lock = blocking, 0, threading.Lock()  # owed: iterations that wait for data

    def feed(self, executor, data, layout):
        if isinstance(data, (bytes, bytearray, memoryview)) or getattr(data, "ndim", None) == 1:  # the file itself
            data = [data]
        iterations = executor.feed(self.node, [as_batch(data, "feed_input()")])
        with self.lock:
            paid = min(self.owed, iterations)
            self.owed -= paid
            self.waiting += iterations - paid

    def before_run(self, executor, graph):
        with self.lock:
            if self.waiting:
                self.waiting -= 1
            elif self.blocking:
                self.owed += 1
            else:
                raise IndexError(
                    f"video input '{graph.name_of(self.node)}' has no frames left: call feed_input() "
                    "before run(), or say blocking=True"
                )
