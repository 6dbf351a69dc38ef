# SPDX-License-Identifier: Apache-2.0
"""output_dtype, output_ndim and output_layout of a Pipeline."""
from .types import DType


def check(what, declared, batches):
    """Raises RuntimeError where a batch is not as declared: one value for all outputs, or one each."""
    each = declared if isinstance(declared, (list, tuple)) else [declared] * len(batches)
    if len(each) != len(batches):
        raise RuntimeError(f"output_{what} names {len(each)} outputs, the pipeline has {len(batches)}")
    for k, (wish, batch) in enumerate(zip(each, batches)):
        if wish is None:
            continue
        got = {"dtype": lambda: batch.dtype, "ndim": lambda: batch.ndim(), "layout": lambda: batch.layout()}[what]()
        if got != wish:
            shown = DType(wish).name if what == "dtype" else wish
            raise RuntimeError(f"output {k} has {what} {getattr(got, 'name', got)!r}, output_{what} says {shown!r}")
