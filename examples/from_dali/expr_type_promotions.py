# SPDX-License-Identifier: Apache-2.0
"""The type of a sum of two types, for all pairs, by the rules that DALI's documentation gives."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types

TYPES = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64, np.float32, np.float64]


def promoted(a, b):
    """Floats have precedence over integers, the wider over the narrower; a signed and an unsigned one give a signed one that holds both,
    of at most 64 bits."""
    a, b = np.dtype(a), np.dtype(b)
    if "f" in (a.kind, b.kind):
        return max((t for t in (a, b) if t.kind == "f"), key=lambda t: t.itemsize)
    if a.kind == b.kind:
        return max(a, b, key=lambda t: t.itemsize)
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    return np.dtype(f"i{min(8, max(signed.itemsize, 2 * unsigned.itemsize))}")


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def sums(a, b):
    def made(kind):
        return fn.external_source(source=lambda: [np.array([5], kind)])

    left, right = made(a), made(b)
    constant = types.Constant(2, dtype=types.to_dali_type(np.dtype(b).name))
    return left + right, left * constant, left / right


for a in TYPES:
    for b in TYPES:
        pipe = sums(a, b)
        pipe.build()
        total, product, quotient = (np.asarray(out.at(0)) for out in pipe.run())
        assert total.dtype == product.dtype == promoted(a, b), (a, b, total.dtype, product.dtype)
        assert quotient.dtype == (promoted(a, b) if promoted(a, b).kind == "f" else np.float32)
        assert total == 10 and product == 10 and quotient == 1
print(f"type promotions: {len(TYPES) ** 2} pairs")
