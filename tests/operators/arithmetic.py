# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and mathematical functions: the references and random calls."""

import math

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.draws import INTEGERS, NUMBERS, images
from operators.exact import promote


def arithmetic(op, a, b=None):
    """The result of `a op b` (unary when b is None), in its own type: integers wrap, // and % truncate toward zero."""
    constant = {bool: bool, int: np.int32, float: np.float32}
    a, b = [np.asarray(v, constant.get(type(v))) if v is not None else None for v in (a, b)]
    if b is None:
        return {"+": lambda v: v, "-": np.negative, "~": np.invert}[op](a)
    if op in ("<", "<=", ">", ">=", "==", "!="):
        exact = (lambda v: v.astype(object)) if a.dtype.kind != "f" and b.dtype.kind != "f" else (lambda v: v)
        return {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
            "==": np.equal,
            "!=": np.not_equal,
        }[op](exact(a), exact(b)).astype(bool)
    kind = promote(a.dtype, b.dtype)
    if op == "/" and kind.kind != "f":
        kind = np.dtype(np.float32)
    if kind == np.float16:  # computed in float32, rounded once
        return arithmetic(op, a.astype(np.float32), b.astype(np.float32)).astype(kind)
    a, b = a.astype(kind), b.astype(kind)
    with np.errstate(all="ignore"):
        if kind.kind == "f":
            simple = {
                "+": np.add,
                "-": np.subtract,
                "*": np.multiply,
                "/": np.divide,
                "//": np.divide,
                "%": np.fmod,
                "**": np.power,
            }
            return simple[op](a, b)
        if op in ("//", "%"):
            if (b == 0).any():
                raise ValueError("Integer division by zero.")
            rest = np.fmod(a, b)
            return rest if op == "%" else np.floor_divide(a - rest, b)
        if op == "**":
            return np.where(b < 0, 0, np.power(a, np.maximum(b, 0))).astype(kind)
        return {
            "+": np.add,
            "-": np.subtract,
            "*": np.multiply,
            "&": np.bitwise_and,
            "|": np.bitwise_or,
            "^": np.bitwise_xor,
            "<<": np.left_shift,
            ">>": np.right_shift,
        }[op](a, b).astype(kind)


_SIGNS = {
    "_add": "+",
    "_sub": "-",
    "_mul": "*",
    "_div": "/",
    "_fdiv": "//",
    "_mod": "%",
    "_pow": "**",
    "_lt": "<",
    "_le": "<=",
    "_gt": ">",
    "_ge": ">=",
    "_eq": "==",
    "_ne": "!=",
    "_and": "&",
    "_or": "|",
    "_xor": "^",
    "_shl": "<<",
    "_shr": ">>",
    "_neg": "-",
    "_pos": "+",
    "_not": "~",
}
UNARY = ("_neg", "_pos", "_not")


def draw_arithmetic(name):
    sign = _SIGNS[name]
    if sign in "&|^~<<>>" and name not in ("_lt", "_gt"):
        kinds = INTEGERS
    else:
        kinds = NUMBERS

    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "HW"], kinds)
        if name in UNARY:
            return Case(
                [xs],
                [layout],
                dtype=arithmetic(sign, xs[0]).dtype.name,
                error=0.0,
                expected=lambda i: arithmetic(sign, xs[i]),
            )
        other, seed = draw(st.sampled_from(kinds)), draw(st.integers(0, 2**32 - 1))
        ys = [values(other, x.shape, seed + i) for i, x in enumerate(xs)]
        if sign in ("//", "%"):
            ys = [np.where(y == 0, np.ones_like(y), y) for y in ys]
        if sign in ("<<", ">>"):
            ys = [(np.abs(y.astype(np.int64)) % 8).astype(other) for y in ys]
        if sign == "**":
            xs = [np.abs(x.astype(np.float64) % 9).astype(dtype) for x in xs]
            ys = [(np.abs(y.astype(np.float64)) % 3).astype(other) for y in ys]
        out = arithmetic(sign, xs[0], ys[0]).dtype
        exact = sign not in ("**", "/", "%", "//") or out.kind != "f"
        return Case(
            [xs, ys],
            [layout, layout],
            dtype=out.name,
            error=0.0 if exact else 1e-6,
            expected=lambda i: arithmetic(sign, xs[i], ys[i]),
        )

    return make


# name -> (NumPy's function, where it is defined)
_MATH = {
    "abs": (np.abs, None),
    "fabs": (np.abs, None),
    "ceil": (np.ceil, None),
    "floor": (np.floor, None),
    "sqrt": (np.sqrt, (0, 1000)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0.01, 1000)),
    "cbrt": (np.cbrt, None),
    "exp": (np.exp, (-10, 10)),
    "log": (np.log, (0.01, 1000)),
    "log2": (np.log2, (0.01, 1000)),
    "log10": (np.log10, (0.01, 1000)),
    "sin": (np.sin, (-50, 50)),
    "cos": (np.cos, (-50, 50)),
    "tan": (np.tan, (-1.4, 1.4)),
    "asin": (np.arcsin, (-1, 1)),
    "acos": (np.arccos, (-1, 1)),
    "atan": (np.arctan, (-50, 50)),
    "sinh": (np.sinh, (-5, 5)),
    "cosh": (np.cosh, (-5, 5)),
    "tanh": (np.tanh, (-5, 5)),
    "asinh": (np.arcsinh, (-50, 50)),
    "acosh": (np.arccosh, (1, 50)),
    "atanh": (np.arctanh, (-0.9, 0.9)),
    "min": (np.minimum, None),
    "max": (np.maximum, None),
    "pow": (np.power, (0.1, 4)),
    "fpow": (np.power, (0.1, 4)),
    "atan2": (np.arctan2, (-50, 50)),
}


def draw_math(name):
    function, domain = _MATH[name]
    two, keeps = name in ("min", "max", "pow", "fpow", "atan2"), name in ("abs", "min", "max", "pow")

    def array(dtype, x, seed):
        if domain is None:
            return x
        low, high = domain
        if np.dtype(dtype).kind == "f":
            return np.random.default_rng(seed).uniform(low, high, x.shape).astype(dtype)
        low = max(math.ceil(low), 0) if np.dtype(dtype).kind == "u" else math.ceil(low)
        return np.random.default_rng(seed).integers(low, min(math.floor(high), 127) + 1, x.shape).astype(dtype)

    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "HW"], NUMBERS)
        seed = draw(st.integers(0, 2**32 - 1))
        inputs = [[array(dtype, x, seed + i) for i, x in enumerate(xs)]]
        if two:
            other = draw(st.sampled_from(NUMBERS))
            inputs.append([array(other, values(other, x.shape, seed + 9 + i), seed + 99 + i) for i, x in enumerate(xs)])
        out = promote(inputs[0][0].dtype, inputs[-1][0].dtype)
        if not keeps and out.kind != "f":
            out = np.dtype(np.float32)
        if keeps and two and out.kind != "f" or keeps and not two:
            return Case(
                inputs,
                [layout] * len(inputs),
                dtype=out.name,
                error=0.0,
                expected=lambda i: function(*[x[i].astype(out) for x in inputs]),
            )
        wide = np.float32 if out == np.float16 else out  # operands are converted to the result's type first
        exact = lambda i: function(*[x[i].astype(wide).astype(np.float64) for x in inputs])
        return Case(
            inputs,
            [layout] * len(inputs),
            dtype=out.name,
            error=1e-6,
            expected=exact,
            largest=max([1.0] + [float(np.abs(exact(i)).max()) for i in range(len(xs)) if xs[i].size]),
        )

    return make


CASES = {**{name: draw_arithmetic(name) for name in _SIGNS}, **{f"_math.{name}": draw_math(name) for name in _MATH}}
REFERENCES = {**dict.fromkeys(_SIGNS, "arithmetic"), **{f"_math.{name}": "numpy" for name in _MATH}}
