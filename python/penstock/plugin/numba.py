# SPDX-License-Identifier: Apache-2.0
"""numba_function: the user's function as machine code that the pipeline's threads run without Python's lock.

Also under the name by which scripts for DALI know it: penstock.plugin.numba.fn.experimental.numba_function.
"""

import functools
import sys
from types import ModuleType

from ..types import DType, to_penstock_type
from .interface import (
    DataNode,
    add_call,
    batch,
    gpu_why_not,
    is_converted,
    operator_function,
    required,
    tensor,
    user_line,
)

_CODES = {
    DType.UINT8: "uint8",
    DType.UINT16: "uint16",
    DType.UINT32: "uint32",
    DType.UINT64: "uint64",
    DType.INT8: "int8",
    DType.INT16: "int16",
    DType.INT32: "int32",
    DType.INT64: "int64",
    DType.FLOAT: "float32",
    DType.FLOAT64: "float64",
    DType.BOOL: "bool_",
}

# What C++ calls, by position: addresses of the arrays of each sample, extents of each sample, number of samples.
_RUN_ONE = """
def run(addresses, extents, samples):
    p = carray(addresses, {arrays})
    try:
        run_fn({one})
    except Exception:
        return 1
    return 0
"""
_RUN_ALL = """
def run(addresses, extents, samples):
    p = carray(addresses, {arrays} * samples)
    try:
{lists}
        run_fn({names})
    except Exception:
        return 1
    return 0
"""
_SETUP = """
def setup(extents, samples):
    e = carray(extents, {total} * samples)
    setup_fn([{outs}], [{ins}])
"""


def _list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


class Compiled:
    """The machine code of run_fn and setup_fn, for the executor, and for a debugger call() in Python."""

    def __init__(self, run_fn, out_types, in_types, outs_ndim, ins_ndim, setup_fn, batch_processing):
        self.run_fn, self.setup_fn, self.batch_processing = run_fn, setup_fn, batch_processing
        self.out_types, self.in_types, self.outs_ndim, self.ins_ndim = out_types, in_types, outs_ndim, ins_ndim
        self.op, self.name, self.line = "numba_function", "", ""
        self._compile()

    def start(self, name, line, given):
        self.name, self.line = name, line

    def _compile(self):
        import numba
        from numba import types

        names = [_CODES[t] for t in self.out_types + self.in_types]
        ndims = self.outs_ndim + self.ins_ndim
        outs = len(self.out_types)
        space = {
            "carray": numba.carray,
            **{
                f"t{k}": getattr(numba.np.numpy_support.np, n if n != "bool_" else "bool_") for k, n in enumerate(names)
            },
        }
        space["run_fn"] = numba.njit(self.run_fn, nogil=True) if not hasattr(self.run_fn, "py_func") else self.run_fn
        starts = [sum(ndims[:k]) for k in range(len(ndims))]

        def shape(k, base, stride):
            at = [
                f"extents[{base} + {d}]" if stride is None else f"extents[{base} + i * {stride} + {d}]"
                for d in range(ndims[k])
            ]
            return "(" + "".join(a + ", " for a in at) + ")"

        if self.batch_processing:
            lines = [
                f"        a{k} = [carray(p[{k} * samples + i], {shape(k, f'{starts[k]} * samples', ndims[k])}, t{k}) "
                "for i in range(samples)]"
                for k in range(len(ndims))
            ]
            text = _RUN_ALL.format(
                arrays=len(ndims), lists="\n".join(lines), names=", ".join(f"a{k}" for k in range(len(ndims)))
            )
        else:
            text = _RUN_ONE.format(
                arrays=len(ndims),
                one=", ".join(f"carray(p[{k}], {shape(k, starts[k], None)}, t{k})" for k in range(len(ndims))),
            )
        exec(text, space)
        signature = types.int32(types.CPointer(types.voidptr), types.CPointer(types.int64), types.int64)
        self.code = [numba.cfunc(signature, nopython=True)(space["run"])]
        self.run_address, self.setup_address = self.code[0].address, 0
        if self.setup_fn is not None:
            space["setup_fn"] = numba.njit(self.setup_fn) if not hasattr(self.setup_fn, "py_func") else self.setup_fn

            def table(k):
                return f"e[{starts[k]} * samples:{starts[k] + ndims[k]} * samples].reshape((samples, {ndims[k]}))"

            text = _SETUP.format(
                total=sum(ndims),
                outs=", ".join(table(k) for k in range(outs)),
                ins=", ".join(table(k) for k in range(outs, len(ndims))),
            )
            exec(text, space)
            self.code.append(
                numba.cfunc(types.void(types.CPointer(types.int64), types.int64), nopython=True)(space["setup"])
            )
            self.setup_address = self.code[1].address


@functools.lru_cache(64)
def _compiled(*arguments):
    lists = [list(a) if isinstance(a, tuple) else a for a in arguments]
    return Compiled(*lists)


class OnGpu:
    """run_fn as a kernel of numba.cuda. `call` is what the executor calls; it returns when they are done."""

    def __init__(self, run_fn, out_types, outs_ndim, setup_fn, blocks, threads_per_block):
        from numba import cuda

        self.kernel = cuda.jit(run_fn)
        self.out_types, self.outs_ndim, self.setup_fn = out_types, outs_ndim, setup_fn
        self.grid = tuple(blocks), tuple(threads_per_block)
        self.op, self.name, self.line = "numba_function", "", ""

    def start(self, name, line, given):
        self.name, self.line = name, line

    def call(self, batches, origins):
        import numpy
        from numba import cuda

        ins = [numpy.array(b.shape(), numpy.int64).reshape(len(origins), b.ndim()) for b in batches]
        outs = [numpy.zeros((len(origins), n), numpy.int64) for n in self.outs_ndim]
        if self.setup_fn is not None:
            self.setup_fn(outs, ins)
        else:
            outs = ins[: len(outs)]
        stream = cuda.stream()
        made = []
        for i in range(len(origins)):
            given = [cuda.as_cuda_array(b[i], sync=True) for b in batches]
            results = [
                cuda.device_array(tuple(o[i]), _CODES[t].rstrip("_"), stream=stream)
                for o, t in zip(outs, self.out_types)
            ]
            self.kernel[(*self.grid, stream)](*results, *given)
            made.append(results)
        stream.synchronize()
        return [batch([tensor(m[k]) for m in made]) for k in range(len(self.out_types))], []


def _check_arrays(inputs, out_types, in_types, outs_ndim, ins_ndim, setup_fn, line):
    for what, types, ndims, most in (("out", out_types, outs_ndim, 6), ("in", in_types, ins_ndim, 6)):
        if len(types) != len(ndims) or not 1 <= len(types) <= most:
            raise ValueError(
                f"[numba_function] {what}_types names {len(types)} types and {what}s_ndim {len(ndims)} numbers of "
                f"dimensions; both must name the same 1 to {most} arrays{line}"
            )
        for t in types:
            if t not in _CODES:
                raise TypeError(f"[numba_function] Numba's functions cannot have arrays of {t.name}{line}")
    if len(inputs) != len(in_types):
        raise ValueError(
            f"[numba_function] in_types has {len(in_types)} types, but there are {len(inputs)} inputs{line}"
        )
    for k, n in enumerate(outs_ndim):
        if setup_fn is None and (k >= len(ins_ndim) or ins_ndim[k] != n):
            raise ValueError(
                f"[numba_function] output {k} has no input of {n} dimensions whose shapes it could have: give setup_fn{line}"
            )


def _check_functions(run_fn, setup_fn, line):
    for what, function in (("run_fn", run_fn), ("setup_fn", setup_fn)):
        plain = getattr(function, "py_func", function)
        if function is not None and not callable(function):
            raise TypeError(f"[numba_function] {what} must be a function, got {type(function).__name__}{line}")
        if function is not None and hasattr(plain, "__code__") and is_converted(plain):
            raise TypeError(
                f"[numba_function] {what} is defined inside the pipeline's function, where control flow is converted: "
                f"define it outside{line}"
            )


def _check_launch(blocks, threads_per_block, batch_processing, line):
    for what, value in (("blocks", blocks), ("threads_per_block", threads_per_block)):
        if value is None or len(value) != 3 or any(int(v) < 1 for v in value):
            raise ValueError(f"[numba_function] {what} must be three positive numbers on a GPU, got {value!r}{line}")
    if batch_processing:
        raise ValueError(f"[numba_function] batch_processing is for the CPU{line}")


def _compiled_for_cpu(run_fn, out_types, in_types, outs_ndim, ins_ndim, setup_fn, batch_processing, line):
    import numba

    try:
        return _compiled(
            run_fn, tuple(out_types), tuple(in_types), tuple(outs_ndim), tuple(ins_ndim), setup_fn, batch_processing
        )
    except numba.core.errors.NumbaError as error:
        said = str(error).strip().split("\n")
        raise TypeError(
            f"[numba_function] Numba cannot compile '{run_fn.__name__}': " + "\n  ".join(said[:8]) + line
        ) from error


def numba_function(
    *inputs,
    run_fn,
    out_types,
    in_types,
    outs_ndim,
    ins_ndim,
    setup_fn=None,
    batch_processing=False,
    blocks=None,
    threads_per_block=None,
    device=None,
    name=None,
    preserve=False,
    bytes_per_sample_hint=None,
    seed=-1,
):
    if not any(isinstance(i, DataNode) for i in inputs):
        required("fn.numba_function(...)")
    line = f"\n  at {user_line()}"
    out_types, in_types = ([to_penstock_type(t) for t in _list(types)] for types in (out_types, in_types))
    outs_ndim, ins_ndim = [int(n) for n in _list(outs_ndim)], [int(n) for n in _list(ins_ndim)]
    _check_arrays(inputs, out_types, in_types, outs_ndim, ins_ndim, setup_fn, line)
    _check_functions(run_fn, setup_fn, line)
    on_gpu = device == "gpu" or (device is None and any(isinstance(i, DataNode) and i.device == "gpu" for i in inputs))
    on_gpu = on_gpu and not gpu_why_not()
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise ImportError(f"[numba_function] needs the package 'numba' ({error}): pip install numba{line}") from None
    if on_gpu:
        _check_launch(blocks, threads_per_block, batch_processing, line)
        made = OnGpu(run_fn, out_types, outs_ndim, setup_fn, blocks, threads_per_block)
    else:
        made = _compiled_for_cpu(
            run_fn, out_types, in_types, outs_ndim, ins_ndim, setup_fn, bool(batch_processing), line
        )
    arguments = {
        "run_fn": run_fn.__name__,
        "out_types": [int(t) for t in out_types],
        "in_types": [int(t) for t in in_types],
        "outs_ndim": outs_ndim,
        "ins_ndim": ins_ndim,
        "device": device,
        "name": name,
    }
    if setup_fn is not None:
        arguments["setup_fn"] = setup_fn.__name__
    if batch_processing:
        arguments["batch_processing"] = True
    return add_call("numba_function", inputs, arguments, made)


numba_function.__doc__ = operator_function("numba_function").__doc__


def _module(name, **members):
    module = ModuleType(f"{__name__}.{name}")
    module.__dict__.update(members)
    module.__path__ = []
    sys.modules[module.__name__] = module
    return module


fn = _module("fn", numba_function=numba_function)
fn.experimental = _module("fn.experimental", numba_function=numba_function)
