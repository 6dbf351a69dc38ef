# SPDX-License-Identifier: Apache-2.0
"""What all one-line loaders share: the arguments of reading, of the pipeline, and of rows."""

import dataclasses
import difflib
import inspect
import operator
import os
import sys
from typing import Any

import numpy as np

from .program import Program, run


@dataclasses.dataclass
class Options:
    """The arguments that all functions of this room take; see docs/how_to/begin_with_one_line.md."""

    batch_size: int = 32
    training: bool = True
    shuffle: bool | None = None  # None: as training
    limit: int | None = None
    where: Any = None
    weights: Any = None
    sampler: str | None = None  # "balanced": weights="balanced"
    augment: Any = None
    device: str = "cpu"
    device_id: int = 0
    num_threads: int = 4
    prefetch: int = 2
    seed: int = 0
    shard_id: int = 0
    num_shards: int = 1
    last_batch: str = "partial"
    on_error: str | None = None
    late: str = "wait"
    framework: str = "torch"


_USUAL = {
    "num_workers": "num_threads",
    "drop_last": "last_batch='drop'",
    "prefetch_factor": "prefetch",
    "transform": "augment",
    "train": "training",
    "root": "the first argument",
    "image_size": "size",
    "num_shard": "num_shards",
    "pin_memory": "device='gpu', whose batches are made there",
    "collate_fn": "a pipeline of your own: .program is the text to begin with",
    "target_transform": "a pipeline of your own: .program is the text to begin with",
    "generator": "seed",
    "world_size": "num_shards",
    "rank": "shard_id",
}


def _own(function):
    """The names of the arguments that a function has beside those of all."""
    made = getattr(sys.modules[__package__], function)  # the package imports this module
    return [n for n, p in inspect.signature(made).parameters.items() if p.kind == p.KEYWORD_ONLY]


def options_of(function, arguments, **defaults):
    """Options of the arguments that a function was called with."""
    known = [f.name for f in dataclasses.fields(Options)]
    for name in arguments:
        if name not in known:
            close = difflib.get_close_matches(name, [*_own(function), *known], 1)
            near = f", did you mean '{close[0]}'?" if close else f": the arguments are {', '.join(known)}"
            near = f", use {_USUAL[name]}" if name in _USUAL else near
            raise TypeError(f"{function} has no argument '{name}'{near}")
    # The program shows a number of NumPy as the number that it is.
    plain = {n: v.item() if isinstance(v, np.generic) else v for n, v in arguments.items()}
    options = Options(**{**defaults, **plain})
    if options.device not in ("cpu", "gpu"):
        near = ": device='gpu', device_id=0 is torch's 'cuda:0'" if str(options.device).startswith("cuda") else ""
        raise ValueError(f"device must be 'cpu' or 'gpu', got {options.device!r}{near}")
    if options.late not in ("wait", "swap"):
        raise ValueError(f"late must be 'wait' or 'swap', got {options.late!r}")
    if options.sampler not in (None, "balanced"):
        raise ValueError(f"sampler must be 'balanced', got {options.sampler!r}; weights= takes numbers")
    if options.sampler and options.weights is not None:
        raise ValueError("sampler and weights both say how rows are drawn: give one of them")
    return options


class Recipe:
    """A program in the making."""

    def __init__(self, options, table):
        self.options, self.program = options, Program()
        o, p = options, self.program
        self.table = p.call(f"annotations.{table[0]}", *table[1], **table[2])
        self.table += f".where({p.value('where', o.where)})" if o.where is not None else ""
        self.table += f".limit({o.limit!r})" if o.limit is not None else ""
        # A value that is not a number stays what it is: Pipeline refuses it by its name.
        p.arguments = [f"batch_size={o.batch_size!r}", f"num_threads={o.num_threads!r}", f"seed={o.seed!r}"]
        p.arguments += [f"prefetch_queue_depth={o.prefetch!r}"]
        p.arguments += [f"device_id={o.device_id!r}"] if o.device == "gpu" else []
        p.arguments += [f"on_error={o.on_error!r}"] if o.on_error else []
        p.arguments += [f"late={o.late!r}"] if o.late != "wait" else []
        shuffle = o.training if o.shuffle is None else o.shuffle
        # Several shards have one order: of the seed that the reader is given, the pipeline's may differ between ranks.
        shards = {"seed": o.seed, "shard_id": o.shard_id, "num_shards": o.num_shards} if o.num_shards > 1 else {}
        weights = o.sampler or o.weights
        self.add(p.call("data, row = table.read", weights=weights, random_shuffle=shuffle, **shards))

    @property
    def decoder(self):
        """Where images are decoded."""
        return "mixed" if self.options.device == "gpu" else "cpu"

    def add(self, *lines):
        """Adds lines to the pipeline's function."""
        self.program.lines += lines

    def augment(self, name):
        """Adds what the caller wants to be done to a value."""
        wish = self.options.augment
        if wish is None or not self.options.training:
            return
        if isinstance(wish, str):
            from .. import augment

            if wish not in augment.__all__:
                raise ValueError(f"augment must be a function or one of {', '.join(augment.__all__)}; got {wish!r}")
            self.add(f"{name} = augment.{wish}({name})")
        elif callable(wish):
            self.program.given["augmented"] = wish
            self.add(f"{name} = augmented({name})")
        else:
            raise TypeError(f"augment must be a function of {name} or a name of penstock.augment, got {wish!r}")

    def normalize(self, mean, std, mirror=False):
        """Adds the step from bytes to numbers in (C, H, W)."""
        mean, std = _of_bytes(mean, std)
        flip = ", mirror=fn.random.coin_flip()" if mirror else ""
        self.add(
            'image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW",',
            f"                                 mean={mean}, std={std}{flip})",
        )

    def loader(self, outputs, returned, **more):
        """Runs the program."""
        if self.options.device == "gpu":
            returned = [
                r if r.endswith(".gpu()") or outputs[k] in more.get("texts", ()) else f"{r}.gpu()"
                for k, r in enumerate(returned)
            ]
        more = {"last_batch": self.options.last_batch, **more}
        if self.options.framework != "torch":
            more["framework"] = self.options.framework
        said = "".join(f", {n}={v!r}" for n, v in more.items())
        return run(self.program.text(self.table, outputs, returned, said), self.program.given)


def _of_bytes(mean, std):
    """mean and std as lists of numbers for values from 0 to 255."""
    lists = []
    for name, given in (("mean", mean), ("std", std)):
        numbers = np.asarray(given, float) if np.asarray(given).dtype.kind in "iuf" else np.array([])
        if numbers.shape not in ((1,), (3,)) or not np.isfinite(numbers).all():
            raise ValueError(f"{name} must be three numbers, one for each channel, or one; got {given!r}")
        lists.append(numbers.tolist())
    mean, std = lists
    if min(std) <= 0:
        raise ValueError(f"std must be above 0, got {std}")
    if max(std) < 1:  # those of torchvision, whose images are from 0 to 1
        raise ValueError(
            f"mean and std are for values from 0 to 255, got mean={mean}, std={std}: multiply those for values from 0 to 1 "
            f"by 255, as in mean={[round(255 * m, 3) for m in mean]}, std={[round(255 * d, 3) for d in std]}"
        )
    return mean, std


MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet, for bytes


def pair(size):
    """[height, width] of a number or of two."""
    try:
        made = [operator.index(s) for s in (size if isinstance(size, (list, tuple)) else [size, size])]
    except TypeError:
        made = []
    if len(made) != 2 or min(made) < 1:
        raise ValueError(f"size must be a whole number or two (height, width), got {size!r}")
    return made


def path_of(function, argument, path):
    """The path as str."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{function} takes {argument} as a path, got {type(path).__name__}")
    return os.fspath(path)
