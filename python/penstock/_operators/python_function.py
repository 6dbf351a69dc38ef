# SPDX-License-Identifier: Apache-2.0
"""python_function: the user's own function as a node of a pipeline."""

from .. import _core, _graph as graph
from .._base import unseeded
from .._workers.calls import Function, FunctionError, name_of

__all__ = [
    "Function",
    "FunctionError",
    "add_function",
    "check_function",
    "dl_tensor_python_function",
    "python_function",
]


def python_function(
    *inputs,
    function,
    num_outputs=1,
    batch_processing=False,
    output_layouts=None,
    device=None,
    name=None,
    num_workers=1,
    processes=False,
    preserve=False,
    bytes_per_sample_hint=None,
    seed=-1,
):
    return add_function(
        "python_function",
        inputs,
        function,
        num_outputs,
        batch_processing,
        output_layouts,
        device,
        name,
        num_workers,
        processes,
    )


python_function.__doc__ = _core.operator_function("python_function").__doc__


def dl_tensor_python_function(
    *inputs,
    function,
    num_outputs=1,
    batch_processing=False,
    output_layouts=None,
    device=None,
    name=None,
    synchronize_stream=True,
    num_workers=1,
    preserve=False,
    bytes_per_sample_hint=None,
    seed=-1,
):
    """Calls a function of the program with DLPack capsules.

    It is python_function with capsules instead of arrays.

    Args:
        *inputs: Values of the pipeline.
        function: The function; it takes as many capsules as there are inputs.
        num_outputs: Number of outputs; for several the function returns a tuple.
        batch_processing: Calls the function with lists of all samples.
        output_layouts: Layouts of the outputs, one for all or one for each.
        device: "cpu" or "gpu": where the capsules are.
        name: The name of the operator in the pipeline.
        synchronize_stream: Accepted without effect: the streams order the work of a GPU.
        num_workers: Threads that call the function.
        preserve, bytes_per_sample_hint, seed: Accepted without effect.

    Returns:
        A value of the pipeline, or a list of them.

    Raises:
        FunctionError: The function raised an exception; the run of the pipeline raises it.

    Example:
        def smaller(capsule):
            return torch.from_dlpack(capsule)[::2].contiguous()

        @pipeline_def(batch_size=8)
        def pipe(folder):
            jpegs, labels = fn.readers.file(file_root=folder)
            return fn.dl_tensor_python_function(fn.decoders.image(jpegs), function=smaller)
    """
    return add_function(
        "python_function",
        inputs,
        function,
        num_outputs,
        batch_processing,
        output_layouts,
        device,
        name,
        num_workers,
        False,
        wrap=lambda tensor: tensor.__dlpack__(),
        unwrap=_from_capsule,
    )


class _Capsule:
    """A capsule as an object that speaks DLPack."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        """The device that the capsule's tensor names after the address of its data; a tensor with a version has 32 bytes before it."""
        import ctypes

        api = ctypes.pythonapi
        api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        versioned = api.PyCapsule_IsValid(self.capsule, b"dltensor_versioned")
        if not versioned and not api.PyCapsule_IsValid(self.capsule, b"dltensor"):
            raise TypeError("a capsule that is not a DLPack tensor, or one that was used already")
        address = api.PyCapsule_GetPointer(self.capsule, b"dltensor_versioned" if versioned else b"dltensor")
        kind, number = (ctypes.c_int32 * 2).from_address(
            address + (32 if versioned else 0) + ctypes.sizeof(ctypes.c_void_p)
        )
        return kind, number


def _from_capsule(value):
    return _Capsule(value) if type(value).__name__ == "PyCapsule" else value


def check_function(op, function, num_outputs, num_workers):
    """Checks what a call gave for a function of the program.

    Args:
        op: The operator, for messages.
        function: The function.
        num_outputs: How many values it returns.
        num_workers: How many threads or processes call it.

    Raises:
        TypeError: The function cannot be called.
        ValueError: A number is too small.
    """
    if not callable(function):
        raise TypeError(f"[{op}] function must be callable, got {type(function).__name__}\n  at {graph.user_line()}")
    for name, value, least in (("num_outputs", num_outputs, 0), ("num_workers", num_workers, 1)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise ValueError(
                f"[{op}] {name} must be an integer of at least {least}, got {value!r}\n  at {graph.user_line()}"
            )


def add_function(
    op,
    inputs,
    function,
    num_outputs,
    batch_processing,
    output_layouts,
    device,
    name,
    num_workers,
    processes,
    wrap=None,
    unwrap=None,
    layouts=None,
):
    """Adds a node that calls a function of the program; outside a pipeline it calls the function at once.

    Args:
        op: The operator, for messages.
        inputs: Values of the pipeline.
        function: The function.
        num_outputs: How many values it returns.
        batch_processing: Calls it with lists of all samples.
        output_layouts: Layouts of the outputs, one for all or one for each; None: none.
        device: "cpu" or "gpu"; None: where the inputs are.
        name: The name of the operator in the pipeline.
        num_workers: Threads that call it; with processes=True processes.
        processes: Uses processes.
        wrap: Makes the framework's array of a Tensor; None: NumPy's on the CPU.
        unwrap: Makes an object that speaks DLPack of a result; None: results do.
        layouts: Gives the layout of output k for (k, batch, inputs); None: none.

    Returns:
        A value of the pipeline, or a list of them; outside a pipeline arrays.

    Raises:
        TypeError: The function cannot be called.
        ValueError: A number is too small.
    """
    check_function(op, function, num_outputs, num_workers)
    count = int(num_outputs)
    made = Function(
        op, function, count, bool(batch_processing), int(num_workers), bool(processes), wrap, unwrap, layouts
    )
    texts = [output_layouts] * count if isinstance(output_layouts, str) else list(output_layouts or ())
    if len(texts) > count:
        raise ValueError(f"[{op}] output_layouts names {len(texts)} outputs of {count}\n  at {graph.user_line()}")
    if graph.current() is None and not any(isinstance(i, graph.DataNode) for i in inputs):
        return _at_once(made, inputs, texts)
    arguments = {"function": name_of(function), "num_outputs": count, "device": device, "name": name}
    if batch_processing:
        arguments["batch_processing"] = True
    if num_workers != 1:
        arguments["num_workers"] = int(num_workers)
    if processes:
        arguments["processes"] = True
    if texts:
        arguments["output_layouts"] = [t or "" for t in texts]
    return graph.add_call("python_function", inputs, arguments, made)


def _at_once(function, inputs, layouts):
    batched = any(isinstance(i, (list, tuple, _core.Batch)) for i in inputs)
    batches = [_core.fed_batch(i if batched and isinstance(i, (list, tuple, _core.Batch)) else [i]) for i in inputs]
    size = len(batches[0]) if batches else 1
    if any(len(b) != size for b in batches):
        raise ValueError(f"[{function.op}] the inputs differ in their number of samples")
    function.start(
        "", graph.user_line(), {"py_start_method": "fork", "py_callback_pickler": None, "seed": unseeded.of_pipeline()}
    )
    try:
        made, bad = function.call(batches, [(0, i, i, 0) for i in range(size)])
    finally:
        function.stop_workers()
    if bad:
        raise _core.DataError(bad[0][1])
    made = [_core.fed_batch(b, layout=t) if t else b for b, t in zip(made, layouts + [""] * len(made))]
    if not batched:
        made = [b[0].numpy() if b.device_type == "cpu" else b[0] for b in made]
    return made[0] if len(made) == 1 else made
