# SPDX-License-Identifier: Apache-2.0
"""Asks DALI for its result from a process that has no DALI.

    oracle = Oracle()                                   # finds the interpreter, see `interpreter()`
    out = oracle.call("resize", [image0, image1], layout="HWC", size=[224, 224], interp_type="INTERP_CUBIC")
    out = oracle.call("warp_affine", [image], layout="HWC", matrix={"per_sample": [m0]})
    out = oracle.call("cat", [[a0, a1], [b0, b1]], inputs_layouts=["HWC", "HWC"], axis=1)     # two inputs, two samples
    out = oracle.call("decoders.image", [np.fromfile(path, np.uint8)], output_type="GRAY")
    data, labels = oracle.call("readers.file", [], batch_size=4, file_root=folder)
    out = oracle.call("readers.tfrecord", [], path=[p], index_path=[i], features={"x": ["FixedLenFeature", [], "int64", 0]})
    out = oracle.call("+", [[a0], [b0]])                # Python operators by their sign
    out = oracle.call("+", [a0], b=1)                   # ... with a constant on the right; a=1: on the left

One child is started on the first call and kept. A message is two little-endian 8-byte lengths (of the JSON header and
of the array bytes), the header, the bytes; arrays in the header are {"dtype", "shape"} in the order of their bytes.
"""

import json
import os
import struct
import subprocess
import sys

import numpy as np

ENUMERATED = {"dtype", "interp_type", "min_filter", "mag_filter", "image_type", "output_type"}
DALI_TYPE = {
    "float16": "FLOAT16",
    "float32": "FLOAT",
    "float64": "FLOAT64",
    "bool": "BOOL",
    **{f"{u}int{n}": f"{u.upper()}INT{n}" for u in ("", "u") for n in (8, 16, 32, 64)},
}


def _is_member(value):
    """Whether `value` names a member of DALI's enumerations, and not a NumPy dtype."""
    colors = ("RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA")
    return isinstance(value, str) and (value in colors or value.startswith("INTERP_") or value in DALI_TYPE.values())


class DaliError(RuntimeError):
    """DALI refused the call; `kind` is the name of its exception."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


def interpreter():
    """The Python that has DALI: PENSTOCK_DALI_PYTHON, else .venv-dali under the repository's root."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.environ.get("PENSTOCK_DALI_PYTHON") or os.path.join(root, ".venv-dali", "bin", "python")


def available():
    return os.access(interpreter(), os.X_OK)


def _send(stream, header, arrays):
    arrays = [np.asarray(a, order="C") for a in arrays]
    header["arrays"] = [{"dtype": a.dtype.name, "shape": a.shape} for a in arrays]
    text = json.dumps(header).encode()
    stream.write(struct.pack("<QQ", len(text), sum(a.nbytes for a in arrays)) + text)
    for a in arrays:
        stream.write(a.tobytes())
    stream.flush()


def _receive(stream):
    prefix = stream.read(16)
    if len(prefix) < 16:
        raise EOFError
    text, size = struct.unpack("<QQ", prefix)
    header, data, arrays, at = json.loads(stream.read(text)), stream.read(size), [], 0
    for a in header["arrays"]:
        kind, count = np.dtype(a["dtype"]), int(np.prod(a["shape"], dtype=np.int64))
        arrays.append(np.frombuffer(data, kind, count, at).reshape(a["shape"]))
        at += count * kind.itemsize
    return header, arrays


class Oracle:
    def __init__(self, python=None):
        self.python, self.child, self.layouts = python or interpreter(), None, []

    def close(self):
        if self.child is not None:
            self.child.stdin.close()
            try:
                self.child.wait(10)
            except subprocess.TimeoutExpired:  # a process that a test has forked still holds the other end of the pipe
                self.child.kill()
                self.child.wait()
            self.child.stdout.close()
            self.child = None

    def call(
        self, operator, inputs, *, layout=None, inputs_layouts=None, batch_size=None, pipeline_seed=1, **arguments
    ):
        """Runs `fn.<operator>` on one batch on the CPU and returns its samples (a list of lists for several outputs).

        `inputs` is a batch (list of arrays) or a list of batches; the outputs' layouts are left in `self.layouts`.
        An argument {"per_sample": arrays} has one array per sample, {"per_frame": arrays} one whose first dimension are
        the sample's frames. Enumerations are given by name, dtypes as NumPy's.
        """
        groups = inputs if inputs and isinstance(inputs[0], (list, tuple)) else [inputs] if inputs else []
        arrays, encoded = [a for g in groups for a in g], {}
        for name, value in arguments.items():
            if name == "features":
                encoded[name] = {"features": value}
            elif isinstance(value, dict):
                ((kind, values),) = value.items()
                rows = [np.asarray(v) for v in values]
                encoded[name] = {"from": len(arrays), "count": len(rows), "frames": kind == "per_frame"}
                arrays += rows
            elif isinstance(value, np.ndarray) and operator in OPERATORS:
                encoded[name] = {"constant": len(arrays)}
                arrays.append(value)
            elif name in ENUMERATED and value is not None:
                encoded[name] = {"type": value if _is_member(value) else DALI_TYPE[np.dtype(value).name]}
            else:
                encoded[name] = np.asarray(value).tolist() if isinstance(value, (np.generic, np.ndarray)) else value
        header = {
            "operator": operator,
            "groups": [len(g) for g in groups],
            "arguments": encoded,
            "seed": pipeline_seed,
            "layouts": inputs_layouts or [layout] * len(groups),
            "batch_size": batch_size or (len(groups[0]) if groups else 1),
        }
        if self.child is None:
            self.child = subprocess.Popen(
                [self.python, os.path.abspath(__file__), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        try:
            _send(self.child.stdin, header, arrays)
            answer, out = _receive(self.child.stdout)
        except (EOFError, BrokenPipeError):
            code, self.child = self.child.wait(), None
            raise DaliError("Crash", f"DALI's process ended with {code} in {operator} {encoded}") from None
        if "error" in answer:
            raise DaliError(*answer["error"])
        self.layouts, batches = answer["layouts"], []
        for count in answer["groups"]:
            batches.append(out[:count])
            out = out[count:]
        return batches[0] if len(batches) == 1 else batches


OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
    "&": "and_",
    "|": "or_",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
    "neg": "neg",
    "pos": "pos",
    "~": "invert",
}


def _compute(header, arrays):
    import operator as python_operator

    from nvidia.dali import Pipeline, fn, math, types

    def source(rows):
        return lambda: rows

    def argument(value):
        if not isinstance(value, dict):
            return value
        if "type" in value:
            return getattr(types, value["type"])
        if "features" in value:
            from nvidia.dali import tfrecord

            return {
                k: getattr(tfrecord, call)(*rest[:-2], getattr(tfrecord, rest[-2]), rest[-1])
                for k, (call, *rest) in value["features"].items()
            }
        if "constant" in value:
            return types.Constant(arrays[value["constant"]])
        rows = [np.array(a) for a in arrays[value["from"] : value["from"] + value["count"]]]
        node = fn.external_source(source(rows), batch=True)
        return fn.per_frame(node) if value["frames"] else node

    pipe = Pipeline(
        header["batch_size"],
        1,
        None,
        seed=header["seed"],
        prefetch_queue_depth=1,
        exec_async=False,
        exec_pipelined=False,
    )
    with pipe:
        nodes, at = [], 0
        for count, layout in zip(header["groups"], header["layouts"]):
            rows = [np.array(a) for a in arrays[at : at + count]]
            nodes.append(fn.external_source(source(rows), batch=True, layout=layout or None))
            at += count
        arguments = {k: argument(v) for k, v in header["arguments"].items()}
        name = header["operator"]
        if name in OPERATORS:
            left = [arguments["a"]] if "a" in arguments else []
            right = [arguments["b"]] if "b" in arguments else []
            out = getattr(python_operator, OPERATORS[name])(*left, *nodes, *right)
        else:
            function = math if name.startswith("math.") else fn
            for part in name.removeprefix("math.").split("."):
                function = getattr(function, part)
            out = function(*nodes, **arguments)
        out = list(out.values()) if isinstance(out, dict) else out
        pipe.set_outputs(*(out if isinstance(out, (list, tuple)) else [out]))
    batches = pipe.run()
    rows = [np.asarray(b[i]) for b in batches for i in range(len(b))]
    return {"groups": [len(b) for b in batches], "layouts": [b.layout() for b in batches]}, rows


def serve():
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what DALI prints must not reach the protocol
    while True:
        try:
            header, arrays = _receive(requests)
        except EOFError:
            return
        try:
            answer, rows = _compute(header, arrays)
        except Exception as error:  # every refusal is an answer, the child lives on
            answer, rows = {"error": [type(error).__name__, str(error)]}, []
        _send(answers, answer, rows)


if __name__ == "__main__" and sys.argv[1:] == ["serve"]:
    serve()
