# SPDX-License-Identifier: Apache-2.0
"""A graph as a function: compiled once, called on the caller's thread, by several threads at once."""

from __future__ import annotations

from . import _core
from ._base.element_types import DType
from ._sources.fed import as_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from ._core import Batch
    from ._pipeline import Pipeline

__all__ = ["Function", "FunctionValue"]


class FunctionValue:
    """An input or an output of a Function, as far as it is known before a call.

    Attributes:
        name: The name of the external source; "" for an output.
        dtype: The element type, or None.
        ndim: The number of dimensions of a sample, or None.
        layout: The layout, "" if it is not known.
        device: "cpu" or "gpu".
    """

    __slots__ = ("device", "dtype", "layout", "name", "ndim")
    name: str
    dtype: DType | None
    ndim: int | None
    layout: str
    device: str

    def __init__(self, name: str, dtype: int, ndim: int, layout: str, on_gpu: bool) -> None:
        self.name, self.layout, self.device = name, layout, "gpu" if on_gpu else "cpu"
        self.dtype = None if dtype < 0 else DType(dtype)
        self.ndim = None if ndim < 0 else ndim

    def __repr__(self) -> str:
        facts = [f"{name}={getattr(self, name)!r}" for name in self.__slots__ if getattr(self, name) not in (None, "")]
        return f"FunctionValue({', '.join(facts)})"


class Function:
    """A graph that the program calls with its data, as pipeline.compile() and Function.load() make it.

    The data come with each call, through the pipeline's external sources. What the graph computes, and its bytes, are
    the pipeline's. A call runs on the caller's thread: no queue, and no other thread unless `num_threads` asks for
    some. Several threads may call one Function at once; the GIL is released meanwhile. docs/how_to/call_a_function.md
    explains it.

    Args:
        pipeline: The pipeline whose graph it is; built if it is not yet.
        num_threads: Threads that share each picture of a call, the caller's included. Of several calls at once, one
            has them, the others run on their own threads.

    Raises:
        ValueError: The graph reads files, calls functions of the program, or changes the number of samples;
            num_threads is less than 1.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1)
        ... def halves():
        ...     return fn.external_source(name="numbers", dtype=types.FLOAT) * 0.5
        >>> half = halves().compile()
        >>> half([np.float32([2, 4]), np.float32([6])])[0][1].numpy()
        array([3.], dtype=float32)
    """

    def __init__(self, pipeline: Pipeline[Any], num_threads: int = 1) -> None:
        self._take(_compiled(pipeline, _threads(num_threads)))

    def _take(self, function):
        self._function = function
        self._inputs = tuple(FunctionValue(*v) for v in function.inputs())
        self._outputs = tuple(FunctionValue(*v) for v in function.outputs())
        self._places = {value.name: k for k, value in enumerate(self._inputs)}

    @classmethod
    def load(cls, saved: str | bytes | PathLike[str], device_id: int | None = None, num_threads: int = 1) -> Function:
        """Makes a function of a saved pipeline, without its threads and its queue.

        Args:
            saved: The file that Pipeline.save() wrote, or the JSON of Pipeline.to_json().
            device_id: The GPU of the operators that run on one; None: the saved one, else the first.
            num_threads: Threads that share each picture of a call, the caller's included.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The text is not a saved pipeline, its graph reads files, or num_threads is less than 1.

        Example:
            >>> @pipeline_def(batch_size=1, num_threads=1)
            ... def doubled():
            ...     return fn.external_source(name="numbers", dtype=types.INT32) * 2
            >>> from penstock import Function
            >>> Function.load(doubled().to_json())([np.int32(4)])[0].as_array().tolist()
            [8]
        """
        if isinstance(saved, (bytes, bytearray)):
            saved = bytes(saved).decode()
        if not isinstance(saved, str) or not saved.lstrip().startswith("{"):
            with open(saved, encoding="utf-8") as file:
                saved = file.read()
        loaded = cls.__new__(cls)
        device = -1 if device_id is None else int(device_id)
        loaded._take(_core.Function.from_json(saved, device, 0, 0, 0, _threads(num_threads)))
        return loaded

    @property
    def inputs(self) -> tuple[FunctionValue, ...]:
        """The inputs, in the order in which a call takes them: the external sources as they were defined."""
        return self._inputs

    @property
    def outputs(self) -> tuple[FunctionValue, ...]:
        """The outputs, in the order in which a call returns them."""
        return self._outputs

    def plan(self) -> str:
        """Returns the steps as text: which operators run together."""
        return self._function.plan_text()

    def __call__(
        self,
        *inputs: Any,
        into: Any = None,
        epoch: int = 0,
        first_sample: int = 0,
        batch_size: int | None = None,
        stream: Any = None,
        **named: Any,
    ) -> tuple[Batch, ...]:
        """Computes the outputs of a batch.

        Args:
            *inputs: A batch for each external source, in their order: an array whose first axis counts the samples, a
                list of arrays, or a Batch. Batches may have any size.
            into: Memory for the outputs, a list with an entry for each: an array whose first axis counts the samples, a
                list of arrays, a Batch, or None for new memory. Types and shapes are the output's, strides are free; the
                memory must not overlap an input or another output. With one output, also that array or Batch alone.
            epoch, first_sample: Sample i draws the random numbers of sample first_sample + i of this epoch of the
                pipeline.
            batch_size: Samples of a function without inputs; None: 1.
            stream: The stream of the GPU, a number or an object of a framework that has one; the call is enqueued there.
                While it records a CUDA graph, all inputs and outputs must be memory of the program on the GPU.
            **named: Inputs by the names of their external sources.

        Returns:
            A Batch for each output; where `into` has memory, a Batch over that memory.

        Raises:
            DataError: A sample cannot be read or decoded; attempt() computes the others.
            TypeError: An input or a place for an output has another type or rank.
            ValueError: An input is missing, or a shape is wrong.
        """
        return self._call(inputs, named, into, epoch, first_sample, batch_size, stream, False)[0]

    def attempt(
        self,
        *inputs: Any,
        into: Any = None,
        epoch: int = 0,
        first_sample: int = 0,
        batch_size: int | None = None,
        stream: Any = None,
        **named: Any,
    ) -> tuple[tuple[Batch, ...], list[Exception | None]]:
        """Computes the outputs of a batch, also where the data of some samples cannot be read or decoded.

        Args:
            *inputs, into, epoch, first_sample, batch_size, stream, **named: As in a call.

        Returns:
            The outputs, and for each sample what went wrong, or None. A sample that failed has no elements in the
            outputs, and its part of `into` is not written.

        Example:
            >>> @pipeline_def(batch_size=1, num_threads=1)
            ... def decoded():
            ...     return fn.decoders.image(fn.external_source(name="files", dtype=types.UINT8))
            >>> _, errors = decoded().compile().attempt([np.uint8([1, 2, 3])])
            >>> type(errors[0]).__name__
            'DataError'
        """
        return self._call(inputs, named, into, epoch, first_sample, batch_size, stream, True)

    def _call(self, inputs, named, into, epoch, first_sample, batch_size, stream, each):
        given = [_batch(data, "the call") for data in (self._arranged(inputs, named) if named else inputs)]
        if len(given) != len(self._inputs):
            names = ", ".join(f"'{v.name}'" for v in self._inputs) or "none"
            raise ValueError(f"the function takes {len(self._inputs)} inputs ({names}), got {len(given)}")
        targets = [] if into is None else self._targets(into)
        results, errors = self._function.call(
            given, targets, int(epoch), int(first_sample), int(batch_size or 0), _number_of(stream), each
        )
        if targets:
            results = [there if made is None else made for made, there in zip(results, targets)]
        return tuple(results), errors

    def _arranged(self, inputs, named):
        arranged = [*inputs, *[None] * (len(self._inputs) - len(inputs))]
        for name, data in named.items():
            place = self._places.get(name)
            if place is None:
                known = ", ".join(f"'{n}'" for n in self._places)
                raise ValueError(f"there is no input '{name}': the function has {known}")
            if arranged[place] is not None:
                raise ValueError(f"the input '{name}' is given twice")
            arranged[place] = data
        for value, data in zip(self._inputs, arranged):
            if data is None:
                raise ValueError(f"the input '{value.name}' is missing")
        return arranged

    def _targets(self, into):
        if not isinstance(into, (list, tuple)):
            into = [into]
        if len(into) != len(self._outputs):
            raise ValueError(
                f"into needs one entry for each of the {len(self._outputs)} outputs, got {len(into)}; the memory of "
                "several samples is an array, or a list inside that list"
            )
        return [None if place is None else _target(place, value.layout) for place, value in zip(into, self._outputs)]


def _target(place, layout):
    if not isinstance(place, _core.Batch):
        for array in place if isinstance(place, (list, tuple)) else [place]:
            flags = getattr(array, "flags", None)
            if flags is not None and not getattr(flags, "writeable", True):
                raise ValueError("into holds an array that is read-only")
    batch = _batch(place, "into")
    return (
        _core.fed_batch(batch, layout=layout)
        if layout and not batch.layout() and len(layout) == batch.ndim()
        else batch
    )


def _batch(data, what):
    try:
        return as_batch(data, what)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("[external_source] ", "")) from None


def _number_of(stream):
    if stream is None:
        return 0
    for name in ("cuda_stream", "ptr", "handle"):  # torch, CuPy, others
        stream = getattr(stream, name, stream)
    return int(stream) or 1


def _threads(given):
    try:
        count = int(given)
        whole = count == given and type(given).__name__ not in ("bool", "bool_")  # NumPy's has two names
    except (TypeError, ValueError, OverflowError):  # None, texts, infinity
        whole = False
    if not whole or count < 1:
        raise ValueError(f"num_threads must be a whole number of at least 1, got {given!r}")
    if count >= 1 << 31:  # the library knows how many there may be, but takes 32 bits
        raise ValueError(f"num_threads must be less than 2^31, got {given!r}")
    return count


def _compiled(pipeline, num_threads):
    options = pipeline.definition.options
    if options["debug"]:
        raise ValueError("a pipeline with debug=True runs operator by operator and cannot be compiled")
    pipeline.build()
    for node, (_, line) in pipeline.definition.functions.items():
        raise ValueError(
            f"[{pipeline.definition.graph.op_of(node)}] calls a function of the program, which a compiled function cannot "
            f"do: call it before or after\n  at {line}"
        )
    device = options["device_id"]
    limits = [int(options[name] or 0) for name in ("max_pixels", "max_frames", "max_samples")]
    return _core.Function(pipeline.definition.graph, -1 if device is None else int(device), *limits, num_threads)
