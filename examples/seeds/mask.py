# SPDX-License-Identifier: Apache-2.0
"""A dynamic mask: unrolled to the greatest length, as users of DALI had to write it, and as the loop that it is. The calls
of the author's fragments are kept; a ring of squares completes them."""

from penstock import DataNode, fn, pipeline_def, types

H, W, MOST = 120, 160, 8


@pipeline_def(batch_size=16, num_threads=2, seed=1, enable_conditionals=True)
def pipe() -> tuple[DataNode, DataNode]:
    n = fn.random.uniform(range=[0, MOST + 0.99], dtype=types.INT32)
    P = fn.random.uniform(range=[4, 20], dtype=types.INT32)
    x0, y0 = fn.random.uniform(range=[0, 60], dtype=types.INT32), fn.random.uniform(range=[0, 60], dtype=types.INT32)
    mean = fn.reductions.mean(fn.random.uniform(range=[0.0, 1.0], shape=[8, 8]))

    mask = types.Constant(shape=(2, H, W), value=0, dtype=types.FLOAT, device="gpu")
    for k in range(MOST):
        if k < n:
            y, x = y0 + 3 * k, x0 + 5 * k
            mask = fn.erase(mask, fill_value=mean, anchor=fn.stack(y, x), shape=fn.stack(P, P), axes=(1, 2))

    natural = types.Constant(shape=(2, H, W), value=0, dtype=types.FLOAT)
    for k in range(n):
        y, x = y0 + 3 * k, x0 + 5 * k
        natural[:, y : y + P, x : x + P] = mean
    return mask.cpu(), natural


unrolled, natural = pipe().run()
assert all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(unrolled, natural))
print("the same bytes both ways")
