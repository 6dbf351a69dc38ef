# SPDX-License-Identifier: Apache-2.0
"""torch_python_function: the user's function of torch tensors inside a pipeline, as penstock.plugin.pytorch.fn."""

import sys
from types import ModuleType

from .interface import add_function


def torch_python_function(
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
    """Calls a function of the program with torch tensors.

    The tensors are of the CPU, or with device="gpu" of the GPU. They share the memory of the pipeline and must not
    be changed. On a GPU the work of the function is enqueued on the current stream of torch; the work of the
    pipeline before and after it is put into order without waiting.

    Args:
        *inputs: Values of the pipeline.
        function: The function; it takes as many tensors as there are inputs, with batch_processing=True lists of
            them. It returns tensors, or arrays of any other kind.
        num_outputs: Number of outputs; for several, the function returns a tuple.
        batch_processing: Calls the function with lists of all samples.
        output_layouts: Layouts of the outputs, one for all or one for each.
        device: "cpu" or "gpu".
        name: The name of the operator in the pipeline.
        num_workers: Threads that call the function; with processes=True processes.
        processes: Uses processes.
        preserve, bytes_per_sample_hint, seed: Accepted without effect.

    Returns:
        A value of the pipeline, or a list of them.

    Raises:
        FunctionError: The function raised an exception; the run of the pipeline raises it.

    Example:
        >>> from penstock.plugin.pytorch import fn as torch_fn
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def doubled():
        ...     x = fn.external_source([[np.int32([1]), np.int32([2])]])
        ...     return torch_fn.torch_python_function(x, function=lambda tensor: tensor * 2)
        >>> doubled().run()[0].as_array().tolist()
        [[2], [4]]
    """
    return add_function(
        "torch_python_function",
        inputs,
        function,
        num_outputs,
        batch_processing,
        output_layouts,
        device,
        name,
        num_workers,
        processes,
        wrap=None if processes else lambda tensor: tensor.torch(),
    )


fn = ModuleType("penstock.plugin.pytorch.fn", "Operators of torch tensors.")
fn.torch_python_function = torch_python_function
sys.modules[fn.__name__] = fn
