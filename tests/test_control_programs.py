# SPDX-License-Identifier: Apache-2.0
"""Random programs: each runs as a pipeline on a batch, and as plain Python on each sample over the rules of
control_reference.py; equal to the bit."""
import linecache
import os

import control_reference
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from penstock import fn, pipeline_def, types

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "0"))
PROGRAMS = int(os.environ.get("PENSTOCK_TEST_PROGRAMS", 0)) or (20000 if COUNT else 200)
SAMPLES = 5
PHASES = [Phase.generate] if not COUNT else list(Phase)
RESULT = "i0, i1, f0, u, m, old"

HEAD = '''
def helper(a, b):
    if a > b:
        return (a - b) & 31
    for k in range(b & 3):
        if k == a:
            return (b + k) & 31
    return a


def program(i0, i1, f0, u, m):
    old = copy(u)
    c0 = c1 = c2 = c3 = 0
'''


class Writer:
    """Draws a program. Integers stay within 0 and 31, so that nothing overflows and loops end."""

    def __init__(self, draw):
        self.draw, self.lines, self.left = draw, [], draw(st.integers(4, 14))

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def integer(self):
        return self.pick("i0", "i1", "3", "i0 + i1", "i0 * 3", "i1 - 2", "i0 % 5", "i1 // 3", "m[0, 1]", "(i0 if i1 > 4 else 7)",
                         "helper(i0, i1)", "m[i0 & 1, i1 & 1]")

    def real(self):
        return self.pick("f0", "0.5", "f0 * 0.5", "f0 + i0", "u[0]", "u[i1 & 3]", "(f0 if i0 > i1 else u[1])", "u[-1] - f0", "i0 / 4")

    def condition(self, depth=0):
        simple = ["i0 > i1", "i0 == 3", "f0 < 2.0", "1 < i0 <= i1 < 20", "u[0] > u[1]", "i1 % 2 == 0", "i0", "m[0, 0] != i1"]
        if depth > 1 or self.draw(st.booleans()):
            return self.pick(*simple)
        a, b = self.condition(depth + 1), self.condition(depth + 1)
        return self.pick(f"({a} and {b})", f"({a} or {b})", f"not ({a})", f"((not not ({a})) if ({b}) else (i0 > 2))")

    def part(self):
        return self.pick("i0 & 3", "i0 & 3:", ":i1", "i0:i1", "::2", "1:-1", "...", "-2:", "::-1", "u > 1.0", "[0, 2]")

    def block(self, indent, depth, loops):
        before = len(self.lines)
        for _ in range(self.draw(st.integers(1, 4))):
            if self.left > 0:
                self.left -= 1
                self.statement(indent, depth, loops)
        if len(self.lines) == before:
            self.lines.append("    " * indent + "i0 = (i0 + 1) & 31")

    def statement(self, indent, depth, loops):
        kinds = ["integer", "real", "item", "item", "matrix", "array", "old"]
        if depth < 3:
            kinds += ["if", "if", "while", "for", "for", "values"]
        if loops:
            kinds += ["jump"]
        if indent > 1:
            kinds += ["return"]
        kind, pad = self.pick(*kinds), "    " * indent

        def line(text, more=0):
            self.lines.append("    " * more + pad + text)
        if kind == "integer":
            line(f"{self.pick('i0', 'i1')} = ({self.integer()}) & 31")
        elif kind == "real":
            line(f"f0 = {self.real()} * 1.0")
        elif kind == "item":
            line(f"u[{self.part()}] {self.pick('=', '=', '+=', '*=')} {self.real()}")
        elif kind == "matrix":
            line(f"m[{self.pick('i0 & 1', ':, i1 & 1', 'i0 & 1, 1:', '..., 0', 'm > i0', 'u[:2] > 0.0')}] = {self.integer()}")
        elif kind == "array":
            line(self.pick("u = u * 0.5", "u = u + f0", "u = u[::-1]", "u = join(u[1:], u[:1])", "m = m * 2 & 31", "u = u + m[0, 0]"))
        elif kind == "old":
            line(self.pick("old = copy(u)", "u = copy(old)"))
        elif kind == "if":
            line(f"if {self.condition()}:")
            self.block(indent + 1, depth + 1, loops)
            if self.draw(st.booleans()):
                line(f"elif {self.condition()}:")
                self.block(indent + 1, depth + 1, loops)
            if self.draw(st.booleans()):
                line("else:")
                self.block(indent + 1, depth + 1, loops)
        elif kind == "while":
            line(f"c{depth} = {self.integer()} & 3")
            line(f"while c{depth} > 0 and {self.condition()}:")
            line(f"c{depth} = c{depth} - 1", 1)
            self.block(indent + 1, depth + 1, True)
            self.otherwise(indent, depth, loops)
        elif kind == "for":
            bounds = self.pick("i0 & 3", "i0 & 3, i1 & 7", "i1 & 7, i0 & 3, -2", "3", "0, 7, (i0 & 1) + 1")
            line(f"for k{depth} in range({bounds}):")
            line(f"i0 = (i0 + k{depth}) & 31", 1)
            self.block(indent + 1, depth + 1, True)
            self.otherwise(indent, depth, loops)
        elif kind == "values":
            line(f"for v{depth} in {self.pick('u', 'u[1:3]', 'm[0]')}:")
            line(f"f0 = f0 * 0.25 + v{depth}", 1)
            self.block(indent + 1, depth + 1, True)
        elif kind == "jump":
            line(f"if {self.condition()}:")
            line(self.pick("break", "continue"), 1)
        else:
            line(f"if {self.condition()}:")
            line(f"return {RESULT}", 1)

    def otherwise(self, indent, depth, loops):
        if self.draw(st.integers(0, 3)) == 0:
            self.lines.append("    " * indent + "else:")
            self.block(indent + 1, depth + 1, loops)


@st.composite
def programs(draw):
    writer = Writer(draw)
    while writer.left > 0:
        writer.block(1, 0, False)
    return HEAD + "\n".join(writer.lines) + f"\n    return {RESULT}\n"


def loaded(text, names):
    file = "<random program>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(names)
    exec(compile(text, file, "exec"), space)
    return space["program"]


@settings(max_examples=PROGRAMS, deadline=None, phases=PHASES, derandomize=not COUNT, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 2**32 - 1))
def test_random_programs(text, seed):
    check_program(text, seed)


def check_program(text, seed, device="cpu"):
    """The program as a pipeline over values on a device gives what it gives as plain Python over the reference's values."""
    rng = np.random.default_rng(seed)
    samples = [[np.int32(rng.integers(0, 32)), np.int32(rng.integers(0, 32)), np.float32(rng.integers(-8, 8)),
                rng.integers(-4, 5, rng.integers(4, 8)).astype(np.float32), rng.integers(0, 32, (2, 2)).astype(np.int32)]
               for _ in range(SAMPLES)]
    program = loaded(text, {"copy": lambda v: v, "join": lambda a, b: fn.cat(a, b)})

    @pipeline_def(batch_size=SAMPLES, num_threads=2, seed=1, prefetch_queue_depth=1, max_trips=1000)
    def pipe():
        from penstock import control_flow_ast
        given = []
        for k, (dtype, ndim) in enumerate(((types.INT32, 0), (types.INT32, 0), (types.FLOAT, 0), (types.FLOAT, 1),
                                           (types.INT32, 2))):
            value = fn.external_source(_giver([s[k] for s in samples]), dtype=dtype, ndim=ndim)
            given.append(value.gpu() if device == "gpu" else value)
        return control_flow_ast.convert(program)(*given)
    p = pipe()
    got = [batch.as_cpu() for batch in p.run()]
    plain = loaded(text, {"copy": lambda v: v.copy(), "join": lambda a, b: control_reference.Value(
        np.concatenate([a.array, b.array]))})
    for i, sample in enumerate(samples):
        expected = plain(*(control_reference.Value(v) for v in sample))
        for name, batch, value in zip(RESULT.split(", "), got, expected):
            array, result = control_reference.array_of(value), batch[i].numpy()
            assert result.dtype == array.dtype and result.shape == array.shape, (name, i, result, array, text)
            np.testing.assert_array_equal(result, array, err_msg=f"{name} of sample {i}\n{text}")
    p.close()


def _giver(values):
    return lambda: values
