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
RESULT = "i0, i1, f0, u, m, old, w, q, g, h"

HEAD = """
def helper(a, b):
    if a > b:
        return (a - b) & 31
    for k in range(b & 3):
        if k == a:
            return (b + k) & 31
    return a


def program(i0, i1, f0, u, m, g):
%s    old, w, q, h = copy(u), copy(u), copy(m), copy(g)
    c0 = c1 = c2 = c3 = 0
"""


class Writer:
    """Draws a program. Integers stay within 0 and 31, so that nothing overflows and loops end."""

    def __init__(self, draw):
        self.draw, self.lines, self.left = draw, [], draw(st.integers(4, 14))

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def integer(self):
        return self.pick(
            "i0",
            "i1",
            "3",
            "i0 + i1",
            "i0 * 3",
            "i1 - 2",
            "i0 % 5",
            "i1 // 3",
            "m[0, 1]",
            "(i0 if i1 > 4 else 7)",
            "helper(i0, i1)",
            "m[i0 & 1, i1 & 1]",
        )

    def real(self):
        return self.pick(
            "f0", "0.5", "f0 * 0.5", "f0 + i0", "u[0]", "u[i1 & 3]", "(f0 if i0 > i1 else u[1])", "u[-1] - f0", "i0 / 4"
        )

    def condition(self, depth=0):
        simple = [
            "i0 > i1",
            "i0 == 3",
            "f0 < 2.0",
            "1 < i0 <= i1 < 20",
            "u[0] > u[1]",
            "i1 % 2 == 0",
            "i0",
            "m[0, 0] != i1",
        ]
        if depth > 1 or self.draw(st.booleans()):
            return self.pick(*simple)
        a, b = self.condition(depth + 1), self.condition(depth + 1)
        return self.pick(f"({a} and {b})", f"({a} or {b})", f"not ({a})", f"((not not ({a})) if ({b}) else (i0 > 2))")

    def part(self):
        return self.pick("i0 & 3", "i0 & 3:", ":i1", "i0:i1", "::2", "1:-1", "...", "-2:", "::-1", "u > 1.0", "[0, 2]")

    def version(self):
        """Lines in which values take the places of others, whose old versions stay in use, and parts of both are set."""
        return self.pick(
            ["old = copy(u)"],
            ["u = copy(old)"],
            ["w = copy(u)"],
            ["u = copy(w)"],
            ["q = copy(m)"],
            ["m = copy(q)"],
            ["h = copy(g)"],
            ["g = copy(h)"],
            ["u, w = w, u"],
            ["old, w, u = u, old, w"],
            ["g, h = h, g"],
            [f"w = copy(u) if {self.condition(2)} else copy(old)"],
            [f"h = copy(g if {self.condition(2)} else h)"],
            [f"w[{self.part()}] = {self.real()}"],
            ["w = copy(u)", f"u[{self.part()}] = {self.real()}"],
            [f"old[{self.part()}] = {self.real()}"],
            ["q = copy(m)", f"m[i0 & 1] = {self.integer()}"],
            ["u[:2] = w[1:3]"],
            ["u[1:3] = u[:2]"],
            ["w[...] = w"],
            ["u[0] += u[1]"],
            ["m[0] = q[1]"],
            ["q[:, 0] = m[1]"],
            ["g[i0:i0 + i1] = f0"],
            ["g[i1:] = h[i1:]"],
            ["h[::3] += f0"],
            ["h = copy(g)", "g[17 * i0:] = f0", "h[:9] = g[-9:]"],
            ["h = copy(g)", "h[i0:] = f0"],
            ["w = copy(old)", f"w[{self.part()}] = {self.real()}"],
            ["t = copy(u)", f"t[{self.part()}] = {self.real()}", "f0 = t[0] - t[-1]"],
            ["t = copy(m)", "t[0] = i0", "i1 = t[0, 1]"],
            ["g[h > f0] = f0"],
            ["g = g * 0.5"],
            ["g[[0, 3999, 7]] = f0"],
            ["pair = [copy(u), copy(w)]", f"pair[{self.pick(0, 1)}][1] = {self.real()}", "w, u = pair[0], pair[1]"],
            [
                "both = {'a': copy(u), 'b': copy(g)}",
                f"both['a'][{self.part()}] = {self.real()}",
                "both['b'][i0] = f0",
                "old, h = both['a'], both['b']",
            ],
        )

    def block(self, indent, depth, loops):
        before = len(self.lines)
        for _ in range(self.draw(st.integers(1, 4))):
            if self.left > 0:
                self.left -= 1
                self.statement(indent, depth, loops)
        if len(self.lines) == before:
            self.lines.append("    " * indent + "i0 = (i0 + 1) & 31")

    def statement(self, indent, depth, loops):
        kinds = ["integer", "real", "item", "item", "matrix", "array", "version", "version", "version"]
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
            line(
                f"m[{self.pick('i0 & 1', ':, i1 & 1', 'i0 & 1, 1:', '..., 0', 'm > i0', 'u[:2] > 0.0')}] = {self.integer()}"
            )
        elif kind == "array":
            line(
                self.pick(
                    "u = u * 0.5",
                    "u = u + f0",
                    "u = u[::-1]",
                    "u = join(u[1:], u[:1])",
                    "m = m * 2 & 31",
                    "u = u + m[0, 0]",
                )
            )
        elif kind == "version":
            for text in self.version():
                line(text)
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
            if self.draw(st.booleans()):
                line(f"{self.pick('u', 'w', 'old')}[k{depth} & 3] = {self.real()}", 1)
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
    # The pipeline changes memory of its own in place, never what the program gave.
    own = draw(st.sampled_from(["    u, m, g = u * 1.0, m * 1, g * 1.0\n"] * 3 + [""]))
    return HEAD % own + "\n".join(writer.lines) + f"\n    return {RESULT}\n"


def loaded(text, names):
    file = "<random program>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(names)
    exec(compile(text, file, "exec"), space)
    return space["program"]


@settings(
    max_examples=PROGRAMS, deadline=None, phases=PHASES, derandomize=not COUNT, suppress_health_check=list(HealthCheck)
)
@given(programs(), st.integers(0, 2**32 - 1))
def test_random_programs(text, seed):
    check_program(text, seed)


INPUTS = (types.INT32, 0), (types.INT32, 0), (types.FLOAT, 0), (types.FLOAT, 1), (types.INT32, 2), (types.FLOAT, 1)


def inputs(seed):
    """Of each sample of a program."""
    rng = np.random.default_rng(seed)
    return [
        [
            np.int32(rng.integers(0, 32)),
            np.int32(rng.integers(0, 32)),
            np.float32(rng.integers(-8, 8)),
            rng.integers(-4, 5, rng.integers(4, 8)).astype(np.float32),
            rng.integers(0, 32, (2, 2)).astype(np.int32),
            rng.integers(-4, 5, 4000).astype(np.float32),
        ]  # so many that threads share them
        for _ in range(SAMPLES)
    ]


def check_program(text, seed, device="cpu"):
    """The program as a pipeline over values on a device gives what it gives as plain Python over the reference's values."""
    samples = inputs(seed)
    given = [[v.copy() for v in sample] for sample in samples]
    program = loaded(text, {"copy": lambda v: v, "join": lambda a, b: fn.cat(a, b)})

    @pipeline_def(batch_size=SAMPLES, num_threads=2, seed=1, prefetch_queue_depth=2, max_trips=1000)
    def pipe():
        from penstock._control_flow import statements

        values = []
        for k, (dtype, ndim) in enumerate(INPUTS):
            value = fn.external_source(_giver([s[k] for s in samples]), dtype=dtype, ndim=ndim)
            values.append(value.gpu() if device == "gpu" else value)
        return statements.convert(program)(*values)

    p = pipe()
    runs = [[batch.as_cpu() for batch in p.run()] for _ in range(2)]
    called = p.compile()(*[[s[k] for s in samples] for k in range(len(INPUTS))])  # the same graph as a function
    runs.append([batch.as_cpu() for batch in called])
    plain = loaded(
        text,
        {"copy": lambda v: v.copy(), "join": lambda a, b: control_reference.Value(np.concatenate([a.array, b.array]))},
    )
    for i, sample in enumerate(samples):
        expected = plain(*(control_reference.Value(v) for v in sample))
        for got in runs:
            for name, batch, value in zip(RESULT.split(", "), got, expected):
                array, result = control_reference.array_of(value), batch[i].numpy()
                assert result.dtype == array.dtype and result.shape == array.shape, (name, i, result, array, text)
                np.testing.assert_array_equal(result, array, err_msg=f"{name} of sample {i}\n{text}")
    p.close()
    for sample, before in zip(samples, given):  # what the program gave is the program's
        for v, w in zip(sample, before):
            np.testing.assert_array_equal(v, w, err_msg=text)


def _giver(values):
    return lambda: values
