# SPDX-License-Identifier: Apache-2.0
"""One of several functions for each sample."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from ....augment.samples import choose
from ...._control_flow import statements


def select(
    ops: Sequence[Callable[..., Any]],
    selected_op_idx: Any,
    *op_args: Any,
    op_range_lo: int = 0,
    op_range_hi: int | None = None,
    **op_kwargs: Any,
) -> Any:
    """Calls ops[selected_op_idx](*op_args, **op_kwargs) for each sample.

    A condition parts the batch at most log2(len(ops)) times.

    Args:
        ops: Functions, or augmentations, of one result each.
        selected_op_idx: The number of a function for each sample, or one for all.
        *op_args, **op_kwargs: The arguments of the function.
        op_range_lo, op_range_hi: The first and last number that selected_op_idx may have.

    Returns:
        What the functions give.

    Raises:
        ValueError: There are no functions.

    Example:
        >>> from penstock.dali.auto_aug.core import select
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def pipe():
        ...     x = fn.external_source([[np.int32(5), np.int32(5)]])
        ...     index = fn.external_source([[np.int32(0), np.int32(1)]])
        ...     return select([lambda x: x + 1, lambda x: x * 2], index, x)
        >>> pipe().run()[0].as_array().tolist()
        [6, 10]
    """
    last = len(ops) - 1 if op_range_hi is None else op_range_hi
    if not 0 <= op_range_lo <= last < len(ops):
        raise ValueError(f"select needs functions, got {len(ops)}, and a range of them, got {op_range_lo} to {last}")
    index = selected_op_idx if op_range_lo == 0 else selected_op_idx - op_range_lo
    return choose(
        index, [lambda op=op: statements.call(op)(*op_args, **op_kwargs) for op in ops[op_range_lo : last + 1]]
    )
