# SPDX-License-Identifier: Apache-2.0
"""Random programs over files of unlike shapes: conditions, loops, reads and assignments of items, random numbers, batches
that change, pictures that stages move and color. All four variables always have the same samples."""

import linecache

import numpy as np
import stepping_sources as sources

from penstock import fn, types
from penstock._control_flow import statements

HEAD = "def program(k, f, x, a):\n"
NAMES = "k, f, x, a"
CONDITIONS = (
    "k > 12",
    "k % 3 == 0",
    "f < 0.5",
    "x[0] > f",
    "k > 4 and f < 0.8",
    "not (k % 2 == 0)",
    "3 < k <= 20",
    "a.shape()[1] > 10",
    "fn.random.coin_flip()",
)
COUNTS = ("k & 3", "2", "k % 4, 0, -1", "1, k & 7, 2")
# Outside loops alone: which samples a variable has.
CHANGES = (
    "{v} = fn.filter({v}, keep={c}, min_batch=0)",
    "{v} = fn.filter({v}, keep=k % 4)",
    "{v} = fn.expand({v}, k=k % 3)",
    "{v} = fn.expand({v}, k=2)",
    "y = x",
)
LINES = (
    "k = (k * 3 + {n}) & 31",
    "k = fn.random.uniform(range=[0, 31], dtype=types.INT32)",
    "k = (k + fn.cast(a.shape()[0], dtype=types.INT32)) & 31",
    "f = f * 0.5 + k / 64",
    "f = fn.random.uniform(range=[0, 1])",
    "f = x[-1] * 0.25",
    "f = fn.reductions.mean(x) if {c} else f * 0.5",
    "f = fn.reductions.mean(fn.cast(a, dtype=types.FLOAT)) / 255",
    "x = x + f",
    "x = x[::-1]",
    "x = fn.cat(x[1:], x[:1])",
    "x = x + fn.random.normal(shape=(3,))[1]",
    "x[k & 1] = f",
    "x[1:k & 3] = {n}",
    "x[x > f] = 0.25",
    "x[...] += f",
    "a = fn.flip(a, horizontal=fn.random.coin_flip())",
    "a = fn.brightness_contrast(a, brightness=f + 0.5, contrast=1.25)",
    "a = fn.resize(a, size=(5 + {n}, 7))",
    "a = fn.crop(a, crop=(4, 4), crop_pos_x=fn.random.uniform(range=[0, 1]))",
    "a = fn.brightness_contrast(fn.flip(a, vertical=1), brightness=0.75)",
    "a[0:2, k & 1] = fn.cast(k, dtype=types.UINT8)",
    "a = fn.hue(a, hue=f * 90)",
)
FAILS = ("f = x[k]", "x[{n} + 2] = f", "a = fn.crop(a, crop=(k + 6, 4))")


class Writer:
    """A program as lines; fails: whether one of them may be an error for some samples; calls: whether it has functions."""

    def __init__(self, seed, fails, calls):
        self.choices = LINES + 2 * sources.CALLS if calls else LINES
        self.failing = FAILS + 3 * sources.FAILS if calls else FAILS
        self.rng, self.lines, self.left = np.random.default_rng(seed), [], 0
        self.left = int(self.rng.integers(4, 14))
        self.fails_at = int(self.rng.integers(1, self.left)) if fails else None
        self.names = 0
        while self.left > 0:
            self.block(1, 0, False)

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def add(self, indent, line):
        text = line.format(v=NAMES, c=self.pick(CONDITIONS), n=int(self.rng.integers(1, 9)))
        self.lines.append("    " * indent + text)

    def block(self, indent, depth, in_loop):
        for _ in range(self.rng.integers(1, 4)):
            self.left -= 1
            self.statement(indent, depth, in_loop)

    def statement(self, indent, depth, in_loop):
        if self.left == self.fails_at:
            return self.add(indent, self.pick(self.failing))
        kind = self.rng.integers(12) if depth < 3 and self.left > 0 else 11
        if kind < 2:
            self.add(indent, "if {c}:")
            self.block(indent + 1, depth + 1, in_loop)
            if self.rng.random() < 0.5:
                self.add(indent, "else:")
                self.block(indent + 1, depth + 1, in_loop)
        elif kind < 4:
            self.loop(indent, depth)
        elif kind < 5 and not in_loop:
            self.add(indent, self.pick(CHANGES))
        else:
            self.add(indent, self.pick(self.choices))

    def loop(self, indent, depth):
        self.names += 1
        number = f"t{self.names}"
        if self.rng.random() < 0.6:
            self.add(indent, f"for {number} in range({self.pick(COUNTS)}):")
            self.add(indent + 1, f"k = (k + {number}) & 31")
        else:
            self.add(indent, f"{number} = k & 3")
            self.add(indent, f"while {number} > 0 and {{c}}:")
            self.add(indent + 1, f"{number} = {number} - 1")
        self.block(indent + 1, depth + 1, True)
        if self.rng.random() < 0.3:
            self.add(indent + 1, "if {c}:")
            self.add(indent + 2, self.pick(("break", "continue")))


def program_of(seed, fails=False, calls=False):
    """(the function, its text)"""
    writer = Writer(seed, fails, calls)
    last = f"return {NAMES}, y"
    if seed % 8 == 7:
        last = f"return tuple(fn.rebatch({NAMES}, batch_size=3))"
    text = HEAD + "    y = x\n" + "\n".join(writer.lines) + f"\n    {last}\n"
    file = "<random program of steps>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"fn": fn, "types": types, **sources.NAMES}
    exec(compile(text, file, "exec"), space)
    return space["program"], text


def body_of(program, folder, device="cpu", source=sources.of_arrays):
    def body():
        x, a = source(folder)
        x, a = sources.vector(x), sources.picture(a)
        k = fn.cast(fn.reductions.sum(fn.cast(a, dtype=types.INT32)), dtype=types.INT32) & 31
        f = fn.reductions.mean(x)
        if device == "gpu":
            x, a = x.gpu(), a.gpu()
        return statements.convert(program)(k, f, x, a)

    return body
