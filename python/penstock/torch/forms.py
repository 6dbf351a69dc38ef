# SPDX-License-Identifier: Apache-2.0
"""Which torch tensors the outputs of a pipeline become: dense, padded, lists, labels."""

from math import prod

from .. import _core
from .arrays import TORCH


def dense(batch, keep=None, arrays=TORCH):
    """One tensor of all samples, or of the first `keep`."""
    try:
        tensor = arrays.of(batch)
    except TypeError as error:
        raise RuntimeError(
            f'the batch must be representable as a tensor: {error}; ragged="pad" or "list" takes '
            "samples of different shapes"
        ) from None
    return tensor[:keep] if keep is not None and keep < len(batch) else tensor


def padded(batch, keep, value, filled=None, arrays=TORCH):
    """One tensor that holds all samples, padded after each with `value`; filled.count() gets the batch."""
    if filled is not None:
        filled.count(batch)
    whole = batch if batch.is_uniform() else _core.operator_function("pad")(batch, fill_value=value)
    return dense(whole, keep, arrays)


def extents(batch, keep, like, arrays):
    """int64: (N) for samples with one dimension, else (N, dimensions)."""
    shapes = [list(t.shape()) for t in batch][:keep]
    dimensions = len(shapes[0]) if shapes else batch.ndim()
    shape = (len(shapes),) if dimensions == 1 or (not shapes and dimensions < 2) else (len(shapes), dimensions)
    return arrays.extents(shape, shapes, like)


def by_output(argument, given, names, allowed):
    """{name: wish} of an argument that is one wish for all outputs or a dict of them."""
    wishes = given if isinstance(given, dict) else dict.fromkeys(names, given)
    for name, wish in wishes.items():
        if name not in names:
            raise ValueError(f"{argument} names '{name}', which is not in output_map {list(names)}")
        is_number = isinstance(wish, (int, float)) and not isinstance(wish, bool)
        if not (wish is None or is_number or wish in allowed):
            raise ValueError(
                f"{argument} must be {', '.join(['None', *map(repr, allowed)])} or a number, got {wish!r} for '{name}'"
            )
    return {name: wish for name, wish in wishes.items() if wish is not None}


BESIDE = {"list": (), "packed": ("offsets", "positions", "longest")}  # what a form puts beside an output


def ragged_wishes(given, names):
    """What `ragged` of a loader or an iterator asks for, by output."""
    wishes = by_output("ragged", given, names, ("list", "pad", "packed"))
    for name, wish in wishes.items():
        for what in BESIDE.get(wish, ("lengths",)):
            if f"{name}_{what}" in names:
                raise ValueError(f"output_map has '{name}_{what}', where the {what} of '{name}' belong")
    return wishes


class Filled:
    """How many elements padded batches hold, and how many of them are of the samples."""

    def __init__(self):
        self.real = self.all = 0

    def count(self, batch):
        shapes = [t.shape() for t in batch]
        if not shapes:
            return
        self.real += sum(map(prod, shapes))
        self.all += len(shapes) * prod(map(max, zip(*shapes)))


def put_packed(entry, name, batch, keep, arrays=TORCH):
    """entry[name]: the samples in one row; beside it what attention of variable length needs."""
    some = batch if keep is None or keep >= len(batch) else batch[:keep]
    values, offsets, positions, longest = some.packed()
    entry[name] = arrays.of(values)
    for what, value in zip(BESIDE["packed"], (arrays.of(offsets), arrays.of(positions), longest)):
        entry[f"{name}_{what}"] = value


def put_ragged(entry, name, batch, keep, wish, filled=None, arrays=TORCH):
    """entry[name], and what BESIDE says; where it is padded, the extents under "<name>_lengths"."""
    if wish == "list":
        entry[name] = [arrays.of(t) for t in batch][:keep]
    elif wish == "packed":
        put_packed(entry, name, batch, keep, arrays)
    else:
        entry[name] = padded(batch, keep, 0 if wish == "pad" else wish, filled, arrays)
        entry[f"{name}_lengths"] = extents(batch, keep, entry[name], arrays)


class Forms:
    """What each output of penstock.torch.DataLoader becomes."""

    def __init__(self, names, named, labels, pad, ragged, arrays=TORCH):
        self.names, self.arrays = names, arrays
        self.ragged = ragged_wishes(ragged, names)
        self.pad = by_output("pad", pad, names, ())
        for name in self.pad:
            if name in self.ragged:
                raise ValueError(f"pad and ragged both say what becomes of '{name}': give one of them")
        if not named and any(wish != "list" for wish in self.ragged.values()):
            raise ValueError(
                "ragged puts more tensors beside the outputs, which needs output_map; pad= fills up without them"
            )
        if isinstance(labels, bool):
            candidates = names if labels else ()
        else:
            candidates = [labels] if isinstance(labels, str) else list(labels)
            for name in candidates:
                if name not in names:
                    raise ValueError(f"labels names '{name}', which is not in output_map {list(names)}")
        sequences = {*self.ragged, *(self.pad if isinstance(pad, dict) else ())}
        self.undecided = {n for n in candidates if n not in sequences}
        self.labels = set()
        self.filled = {n: Filled() for n in names if n in self.pad or self.ragged.get(n) not in (None, *BESIDE)}

    def of(self, outputs):
        """{name: tensor or list of tensors}"""
        made = {}
        for name, batch in zip(self.names, outputs):
            if name in self.ragged:
                put_ragged(made, name, batch, None, self.ragged[name], self.filled.get(name), self.arrays)
                continue
            alike = batch.is_uniform()
            if alike and name in self.pad:
                self.filled[name].count(batch)
            tensor = (
                self.arrays.of(batch)
                if alike
                else padded(batch, None, self.pad[name], self.filled[name], self.arrays)
                if name in self.pad
                else [self.arrays.of(t) for t in batch]
            )
            if len(batch) and (name in self.undecided or name in self.labels):
                tensor = self._label(name, tensor, alike and self._one_integer(tensor))
            made[name] = tensor
        return made

    def real_shares(self):
        """{name: share of the elements of padded batches that are of samples}"""
        return {name: f.real / f.all for name, f in self.filled.items() if f.all}

    def _label(self, name, tensor, fits):
        """int64 (N), where the output holds one integer in each sample: the first batch decides, so that no later one
        has another form."""
        if name in self.undecided:
            self.undecided.discard(name)
            if not fits:
                return tensor
            self.labels.add(name)
        if not fits:
            raise RuntimeError(
                f"output '{name}' had one integer in each sample and was given as labels, int64 (N); now it has samples of "
                f"other shapes. labels=False gives outputs as they are, labels=[...] names those that hold labels, "
                "pad= and ragged= are for sequences"
            )
        return self.arrays.as_labels(tensor)

    def _one_integer(self, tensor):
        one = tensor.ndim == 1 or (tensor.ndim == 2 and tensor.shape[1] == 1)
        return one and self.arrays.is_of_integers(tensor)
