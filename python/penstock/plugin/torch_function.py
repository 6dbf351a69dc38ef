# SPDX-License-Identifier: Apache-2.0
"""torch_python_function: the user's function of torch tensors inside a pipeline, as penstock.plugin.pytorch.fn."""

import sys
from types import ModuleType

from ..python_function import add


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
    """fn.python_function with torch tensors: of the CPU, or with device="gpu" of the GPU.

    The tensors share the pipeline's memory and must not be changed. On a GPU the function's work is enqueued on torch's
    current stream; the pipeline's work before and behind it is put into order without waiting. The results are tensors, or
    arrays of any other kind.
    """
    return add(
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
