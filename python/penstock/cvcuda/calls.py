# SPDX-License-Identifier: Apache-2.0
"""Makes functions with CV-CUDA's names and signatures of rows of a table.

A row is a function with its forms: "T: src, shape" is one whose first argument is a Tensor. The letters are T (Tensor), V
(ImageBatchVarShape), B (TensorBatch), L (a list). Each row gives a function and one with `_into`, whose first argument is
`dst`, and which has no argument that dst answers. A row returns a Step, the last operator, so that it can write into dst.
"""

import inspect

from .. import _core, fn
from .._base.errors import KINDS, raise_again
from . import integers, operands, streams
from .images import ImageBatchVarShape
from .signatures import KINDS_OF, signature_of
from .tensor_batches import TensorBatch
from .tensors import Tensor

ROWS = {}


class Step:
    """The last operator of a row: what it takes, and the layout or format of the result where it is not that of src."""

    def __init__(self, function, *inputs, **arguments):
        self.function, self.inputs, self.arguments = function, inputs, arguments
        self.layout = self.formats = self.kind = self.with_n = None

    def gives(self, **facts):
        """The step, with facts: layout=, formats=, kind="T" or "V", with_n=."""
        for name, value in facts.items():
            setattr(self, name, value)
        return self

    def run(self, stream, out=None):
        """The result as a batch, or written into `out`."""
        more = {} if stream is None else {"stream": stream}
        if out is not None:
            more["out"] = out
        return self.function(*self.inputs, **self.arguments, **more)


class Wanted:
    """What dst asks for: the extents, type and layout of its samples."""

    def __init__(self, dst):
        memories = operands.memories_of(dst)
        self.shapes, self.dtype = [tuple(m.shape) for m in memories], memories[0].dtype if memories else None
        self.layout = None
        if isinstance(dst, (Tensor, TensorBatch)):
            layout = dst.layout or ""
            self.layout = layout[1:] if layout[:1] == "N" else layout
        elif len(dst):
            self.layout = "CHW" if dst[0].format.planar else "HWC"

    def sizes(self):
        """[height, width] of each sample."""
        return [[shape[self.layout.index("H")], shape[self.layout.index("W")]] for shape in self.shapes]

    @property
    def channels(self):
        """The channels of the first sample."""
        return self.shapes[0][self.layout.index("C")] if "C" in self.layout else 1


class Call:
    """One call: the arguments by their names, and `x`, the samples of the first one."""

    def __init__(self, name, given, first, dst, stream):
        self.__dict__.update(given)
        self.name, self.first, self.dst, self.stream = name, first, dst, stream
        self.want = None if dst is None or isinstance(dst, (list, tuple)) else Wanted(dst)
        self._batches = {}

    @property
    def x(self):
        """The samples of the first argument."""
        return self.batch(self.first)

    def batch(self, container):
        """The samples of a container."""
        if id(container) not in self._batches:
            self._batches[id(container)] = operands.batch_of(container, self.name)
        return self._batches[id(container)]

    @property
    def varies(self):
        """Whether the call is for images of several sizes."""
        return not isinstance(self.first, Tensor)

    def extents(self):
        """[(height, width)] of the samples."""
        layout = self.x.layout()
        return [(s[layout.index("H")], s[layout.index("W")]) for s in self.x.shape()]

    @property
    def channels(self):
        """The channels of the first sample."""
        layout = self.x.layout()
        return self.x.shape()[0][layout.index("C")] if "C" in layout else 1

    def each(self, argument, width=None):
        """An argument for all samples, or a row of it for each: what fn takes. width: numbers of a row."""
        return each(operands.values_of(argument), len(self.x), width)

    def step(self, function, *inputs, **arguments):
        """An operator before the last one."""
        return Step(function, *inputs, **arguments).run(self.stream)

    def refuse(self, why):
        """Raises what CV-CUDA raises for a wrong argument."""
        raise ValueError(f"{self.name}: {why}")


def each(values, samples, width=None):
    """Numbers as fn takes them: a list for all samples, or a batch with a row for each."""
    rows = values.reshape(-1) if width is None else values.reshape(-1, width)
    if len(rows) == 1:
        return rows[0].item() if width is None else [v.item() for v in rows[0]]
    if len(rows) != samples:
        raise ValueError(f"there are {len(rows)} values for {samples} samples")
    return _core.per_sample(rows)


def moved(call, step_of):
    """The step of an operator that takes channels last alone: planes are turned before and after."""
    if call.x.layout() != "CHW":
        return step_of(call.x)
    turned = step_of(call.step(fn.transpose, call.x, perm=[1, 2, 0])).run(call.stream)
    return Step(fn.transpose, turned, perm=[2, 0, 1])


class Function:
    """A function of the table, or its `_into` form."""

    def __init__(self, row, into):
        self._row, self._into = row, into
        self.__name__ = self.__qualname__ = row.name + ("_into" if into else "")
        self.__module__ = "penstock.cvcuda"
        self.__doc__ = row.text(into)
        given = [True] * len(row.forms) if into and not row.into else row.into if into else [None] * len(row.forms)
        self._forms = [signature_of(f, i, row.by_dst) for f, i in zip(row.forms, given)]
        self.__signature__ = self._forms[0][1]

    def __reduce__(self):
        return self.__name__

    @property
    def signatures(self):
        """(letter, signature) of each form."""
        return self._forms

    def _bind(self, args, named):
        errors = []
        for kind, signature in self._forms:
            try:
                bound = signature.bind(*args, **named)
            except TypeError as error:
                errors.append(error)
                continue
            bound.apply_defaults()
            first = bound.arguments[self._row.first] if self._row.first in bound.arguments else None
            if isinstance(first, KINDS_OF[kind]):
                return bound.arguments, first
            errors.append(TypeError(f"{self._row.first} is a {type(first).__name__}"))
        forms = "; ".join(f"{self.__name__}{signature}" for _, signature in self._forms)
        raise TypeError(f"{self.__name__}: {errors[0]}; it is called as {forms}")

    def __call__(self, *args, **named):
        try:
            given, first = self._bind(args, named)
            kinds = ", ".join(f"{name}: {type(value).__name__}" for name, value in given.items())
            try:
                integers.check(given)
                stream, dst = streams.chosen(given.pop("stream")), given.pop("dst", None)
                call = Call(self.__name__, given, first, dst, stream)
                return self._row.finish(call, self._row.function(call))
            except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
                if not isinstance(error, AttributeError) and str(error).startswith((self._row.name, "[")):
                    raise
                # The words of Python or NumPy for an argument of a wrong kind name neither the call nor the argument.
                kind = next((k for k in (IndexError, OverflowError, ValueError) if isinstance(error, k)), TypeError)
                raise kind(f"{self.__name__}({kinds}): {error}") from error
        except KINDS as error:
            raise_again(error)

    def __repr__(self):
        return f"<function cvcuda.{self.__name__}>"


class Row:
    """What the table says of a function."""

    def __init__(self, name, function, forms, into, by_dst, first, over):
        self.name, self.function, self.forms, self.into = name, function, forms, into
        self.by_dst, self.first, self.over = by_dst, first, over

    def text(self, into):
        """The docstring."""
        forms = "\n".join(f"    {self.name}({f.partition(':')[2].strip()})" for f in self.forms)
        where = (
            "writes into dst, which answers " + (", ".join(self.by_dst) or "nothing else")
            if into
            else "gives a new result"
        )
        return f"{inspect.getdoc(self.function)}\n\nThe {'_into ' if into else ''}form {where}.\n\n{forms}\n"

    def finish(self, call, step):
        """The result of a row as a container, or in dst."""
        if not isinstance(step, Step):
            return step
        if call.dst is None:
            return _new(call, step)
        place, dst = operands.place_of(call.dst), call.dst
        overlap = any(
            operands.buffers.same_memory(a, b) for a in operands.memories_of(dst) for b in _inputs_of(call.first)
        )
        if place is None or overlap:
            operands.fill(dst, step.run(call.stream), call.stream)
        else:
            step.run(call.stream, place)
        return dst


def _inputs_of(first):
    if isinstance(first, (list, tuple)):
        return [m for one in first for m in _inputs_of(one)]
    return (
        operands.memories_of(first)
        if not isinstance(first, ImageBatchVarShape)
        else [p for i in first for p in i._planes]
    )


def _new(call, step):
    batch = step.run(call.stream)
    if not batch.layout() and not isinstance(call.first, (list, tuple)) and batch.ndim() == call.x.ndim():
        batch.set_layout(call.x.layout())  # where() and the like keep none
    first = call.first[0] if isinstance(call.first, (list, tuple)) else call.first
    kind = step.kind or {Tensor: "T", ImageBatchVarShape: "V", TensorBatch: "B"}[type(first)]
    if kind == "T":
        with_n = step.with_n
        if with_n is None:
            with_n = not isinstance(first, Tensor) or first.layout[0] == "N"
        return operands.tensor_of(batch, with_n, step.layout, first if isinstance(first, Tensor) else None)
    if kind == "B":
        return operands.tensor_batch_of(batch, first.capacity)
    given = step.formats or [i.format for i in first]
    return operands.images_of(batch, first.capacity, given if isinstance(given, list) else [given] * len(batch))


def row(*forms, into=None, by_dst=(), first="src", over=(), name=None):
    """Enters a function into the table.

    over: the operators of penstock.fn that do the work, for the reference page; a name that is not there makes calls fail with
    a sentence.
    """

    def enter(function):
        own = name or function.__name__
        ROWS[own] = Row(own, function, forms, into, by_dst, first, over)
        return function

    return enter
