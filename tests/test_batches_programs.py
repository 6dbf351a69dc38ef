# SPDX-License-Identifier: Apache-2.0
"""Random programs in which samples are dropped and repeated, inside nested conditions and loops: as a pipeline, under
debug=True for some, and as plain Python over lists; equal."""

import linecache
import os

import numpy as np
import pytest

from penstock import fn, pipeline_def, types
from penstock._control_flow import statements

PROGRAMS = int(os.environ.get("PENSTOCK_TEST_PROGRAMS", 0)) or 100
SAMPLES = 6
CONDITIONS = ("k > 5", "k % 2 == 0", "x > 3.0", "k % 3 == 1 and x < 40.0", "not (k % 4 == 0)")


class Writer:
    """The program as lines of the pipeline, and as a function of one sample that gives its samples."""

    def __init__(self, seed):
        self.rng, self.lines, self.names = np.random.default_rng(seed), [], 0

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def block(self, indent, depth, leaves, names=("k", "x")):
        steps = [self.statement(indent, depth, leaves, names) for _ in range(self.rng.integers(1, 4))]

        def run(samples):
            for step in steps:
                samples = [made for sample in samples for made in step(*sample)]
            return samples

        return run

    def line(self, indent, text, names):
        self.lines.append("    " * indent + text.replace("{k}", names[0]).replace("{x}", names[1]))

    def statement(self, indent, depth, leaves, names):
        kinds = (
            ["number", "number", "real"]
            + ["if", "if", "for"] * (depth < 3)
            + ["filter", "expand"] * leaves
            + ["aside"] * (depth < 3)
        )
        kind = self.pick(kinds)
        condition = self.pick(CONDITIONS)

        def test(a, b):
            return eval(condition, {"k": a, "x": b})

        written = condition.replace("k", "{k}").replace("x", "{x}")
        if kind == "number":
            c = int(self.rng.integers(1, 9))
            self.line(indent, f"{{k}} = ({{k}} + {c}) & 31", names)
            return lambda a, b: [((a + c) & 31, b)]
        if kind == "real":
            self.line(indent, "{x} = {x} * 0.5 + {k}", names)
            return lambda a, b: [(a, np.float32(np.float32(b * np.float32(0.5)) + np.float32(a)))]
        if kind == "filter":
            self.line(
                indent,
                f"{{k}}, {{x}} = fn.filter({{k}}, {{x}}, keep={written.replace('and', '&').replace('not', '~')}, min_batch=0)"
                if "and" not in condition and "not" not in condition
                else "{k}, {x} = fn.filter({k}, {x}, keep={k} % 5, min_batch=0)",
                names,
            )
            if "and" in condition or "not" in condition:
                return lambda a, b: [(a, b)] * bool(a % 5)
            return lambda a, b: [(a, b)] * bool(test(a, b))
        if kind == "expand":
            self.line(indent, "{k}, {x} = fn.expand({k}, {x}, k={k} % 3)", names)
            return lambda a, b: [(a, b)] * (a % 3)
        if kind == "if":
            self.line(indent, f"if {written}:", names)
            yes, no = self.block(indent + 1, depth + 1, leaves, names), None
            if self.rng.random() < 0.6:
                self.line(indent, "else:", names)
                no = self.block(indent + 1, depth + 1, leaves, names)
            return lambda a, b: yes([(a, b)]) if test(a, b) else no([(a, b)]) if no else [(a, b)]
        if kind == "for":
            self.names += 1
            trip = f"t{self.names}"
            self.line(indent, f"for {trip} in range({{k}} % 3):", names)
            self.line(indent + 1, f"{{k}} = ({{k}} + {trip}) & 31", names)
            body = self.block(indent + 1, depth + 1, False, names)

            def loop(a, b):
                for t in range(a % 3):
                    ((a, b),) = body([((a + t) & 31, b)])
                return [(a, b)]

            return loop
        self.names += 1  # aside: new samples that only a block of their own sees
        own = f"k{self.names}", f"x{self.names}"
        self.line(indent, f"{own[0]}, {own[1]} = fn.expand({{k}}, {{x}}, k=2)", names)
        self.block(indent, depth + 1, True, own)
        return lambda a, b: [(a, b)]


def loaded(lines):
    text, file = "def program(k, x):\n" + "\n".join(lines) + "\n    return k, x\n", "<random program of batches>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"fn": fn}
    exec(compile(text, file, "exec"), space)
    return space["program"], text


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part):
    for seed in range(part, PROGRAMS, 4):
        writer = Writer(seed)
        plain = writer.block(1, 0, True)
        program, text = loaded(writer.lines)
        numbers = [np.int32(n) for n in np.random.default_rng(seed).integers(0, 32, SAMPLES)]
        reals = [np.float32(n) for n in range(SAMPLES)]
        expected = plain(list(zip(map(int, numbers), reals)))
        for debug in (False, True)[: 1 + (seed % 5 == 0)]:
            pipe = pipe_of(program, numbers, reals, debug)
            for _ in range(2):
                k, x = pipe.run()
                got = [(int(a.numpy()), np.float32(b.numpy())) for a, b in zip(k, x, strict=True)]
                assert got == expected, (seed, debug, text)


def pipe_of(program, numbers, reals, debug):
    @pipeline_def(batch_size=SAMPLES, num_threads=2, seed=1, prefetch_queue_depth=1, debug=debug)
    def pipe():
        k = fn.external_source(lambda: numbers, dtype=types.INT32, ndim=0)
        x = fn.external_source(lambda: reals, dtype=types.FLOAT, ndim=0)
        return statements.convert(program)(k, x)

    return pipe()
