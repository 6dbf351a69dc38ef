# SPDX-License-Identifier: Apache-2.0
"""The ways in which a random program of device_programs.py runs, and what is the same in all of them."""

import os
import re
from contextlib import contextmanager

import numpy as np
from device_programs import results

from penstock import fn, pipeline_def
from penstock._control_flow import statements

ITERATIONS = 3


@contextmanager
def executor(name):
    """PENSTOCK_EXEC is read when a pipeline is built."""
    before = os.environ.pop("PENSTOCK_EXEC", None)
    if name:
        os.environ["PENSTOCK_EXEC"] = name
    try:
        yield
    finally:
        os.environ.pop("PENSTOCK_EXEC", None)
        if before is not None:
            os.environ["PENSTOCK_EXEC"] = before


def bytes_of(array):
    """The sign and payload of a NaN that arithmetic makes are the hardware's: IEEE 754 leaves them open (6.3)."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.asarray(np.nan, array.dtype), array)
    return array.dtype.str, array.shape, array.tobytes()


def told_of(batches):
    """Layout and samples of each result."""
    return [(b.layout(), [bytes_of(np.array(t.numpy())) for t in b.cpu()]) for b in batches]


def error_of(error):
    """Its type and what it says. Calls do not tell the line of the program, the epoch, and which sample of a single one it is."""
    return (
        "error",
        type(error),
        re.sub(r" of epoch \d+| \(sample 0( of epoch \d+)?\)", "", str(error).split("\n  at ")[0]),
    )


def called(program, on_gpu):
    """The operators one after the other, as functions of batches."""
    given = program.batches(0)
    try:
        return [
            told_of([v for value in program.function(on_gpu, batch_size=program.size)(**given) for v in results(value)])
        ]
    except Exception as error:
        return [error_of(error)]


def pipeline_of(program, on_gpu, **options):
    given = [program.batches(k) for k in range(ITERATIONS)]
    body = statements.convert(program.function(on_gpu))

    def source(name):
        layout = program.inputs[name][1]
        return fn.external_source(lambda k: given[k][name] if k < ITERATIONS else stop(), layout=layout or None)

    def outputs():
        made = body(**{name: source(name) for name in program.inputs})
        values = [v for value in made for v in results(value)]
        return tuple(v.cpu() if on_gpu and k % 2 else v for k, v in enumerate(values))

    options = {"num_threads": 2, "seed": 3, "max_trips": 50, **options}
    return pipeline_def(outputs)(batch_size=program.size, device_id=0 if on_gpu else None, **options)


def stop():
    raise StopIteration


def piped(program, on_gpu, mode="", resume=None, **options):
    """What a pipeline gives in a few iterations; resume: after so many, another one resumes from a checkpoint."""
    told, pipe = [], None
    with executor(mode):
        try:
            pipe = pipeline_of(program, on_gpu, **options)
            for k in range(ITERATIONS):
                if k == resume and not any(t[0] == "error" for t in told):  # a batch that failed comes again
                    state = pipe.checkpoint()
                    pipe.close()
                    pipe = pipeline_of(program, on_gpu, checkpoint=state, **options)
                try:
                    told.append(told_of(pipe.run()))
                except Exception as error:
                    told.append(error_of(error))
        except Exception as error:
            told += [error_of(error)] * (ITERATIONS - len(told))
        finally:
            if pipe is not None:
                pipe.close()
    return told


def ways_of(program, number):
    """(name, function) of the ways in which this program runs beside the pipeline of the CPU; `number` selects among them."""
    ways = (
        []
        if program.control
        else [("calls", lambda: called(program, False)), ("calls, GPU", lambda: called(program, True))]
    )
    depth = {"prefetch_queue_depth": 1 + number % 3, "num_threads": 1 + number % 2}
    ways.append(("pipeline, GPU", lambda: piped(program, True, **depth)))
    others = [
        ("debug", lambda: piped(program, False, debug=True)),
        ("debug, GPU", lambda: piped(program, True, debug=True)),
        ("simple, GPU", lambda: piped(program, True, "simple")),
        ("stepping-fused, GPU", lambda: piped(program, True, "stepping-fused")),
        ("simple", lambda: piped(program, False, "simple")),
        ("resumed, GPU", lambda: piped(program, True, resume=1 + number % 2, **depth)),
        ("stepping", lambda: piped(program, False, "stepping")),
    ]
    return ways + [others[number % 7], others[(number + 1) % 7]]


def alike(a, b, exact):
    """Of errors that calls and debug=True find earlier or later than a plan, the type and the operator are the same."""
    if a == b or exact or a[0] != "error" or b[0] != "error":
        return a == b
    operators = [re.match(r"\[[\w.]+\]", told[2]) for told in (a, b)]
    return a[1] == b[1] and (None in operators or operators[0][0] == operators[1][0])


def difference(program, number):
    """None, or the way that tells something else, and both stories where they first differ."""
    plain, told = piped(program, False), {}
    for name, run in ways_of(program, number):
        told[name] = run()
        expected = told["calls"] if name == "calls, GPU" else plain
        exact = name not in ("calls", "debug", "debug, GPU")
        for k, (a, b) in enumerate(zip(expected, told[name])):
            if not alike(a, b, exact):
                return name, k, a, b
    return None


def runs(program):
    """Whether a program with control flow has a result on the CPU."""
    told = [t for debug in (False, True) for t in piped(program, False, debug=debug)]
    return not any(t[0] == "error" for t in told)
