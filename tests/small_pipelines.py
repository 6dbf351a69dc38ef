# SPDX-License-Identifier: Apache-2.0
"""Small pipelines over external sources that several tests use."""

import numpy as np

from penstock import fn, pipeline_def


def ramp(*shape, dtype=np.uint8):
    return (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)


def source_pipe(batch_size=2, **pipeline_options):
    def make(*args, **kwargs):
        @pipeline_def(batch_size=batch_size, num_threads=1, **pipeline_options)
        def pipe():
            out = fn.external_source(*args, **kwargs)
            return tuple(out) if isinstance(out, list) else out

        return pipe()

    return make


def drain(pipe):
    got = []
    try:
        for _ in range(50):
            got.append([b.as_array().tolist() for b in pipe.run()])
    except StopIteration:
        pass
    return got


def ending(n, value):
    def call(*args):
        i = args[0] if args else call.count
        call.count += 1
        i = getattr(i, "iteration", i)
        if i >= n:
            raise StopIteration
        return value(i)

    call.count = 0
    return call
