# SPDX-License-Identifier: Apache-2.0
"""Random programs of all operators of the registry, for the tests that run one program in many ways and on both devices.

A program is lines of Python over named values. Calls come from tests/operators; their inputs are new ones or results of earlier
lines. `gpu(x)` and `cpu(x)` move a value where the program runs on a GPU, and give the value itself elsewhere. While a program is
drawn, its lines run on the CPU: a line that fails is left out, or ends the program, which then shows the same error everywhere.
"""

import linecache
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import strategies
from device_files import FILES
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

import penstock
from penstock import _core, fn, types

SCHEMAS = {name: _core.operator_schema(name) for name in _core.operators(True)}
CASES = {**strategies.CASES, **FILES}
CALLED = [name for name in SCHEMAS if name in CASES]
STAGES = [name for name in CALLED if SCHEMAS[name]["family"] == "stage"]
LARGEST = 400_000  # elements of the results of a line; more would only take longer
FILE = "<random program for both devices>"
ODD = {
    "int": [-1, 0, 1, 2, 3, 7, 1000],
    "float": [-1.0, 0.0, 0.5, 2.0, 1e9, float("nan"), float("inf")],
    "bool": [False, True],
    "str": ["", "default", "HWC", "linear"],
    "Sequence[float]": [[], [0.5], [-1.0, 2.0], [0.25, 0.5, 3.0], [0.0, 1.0, 2.0, float("nan")]],
    "Sequence[int]": [[], [0], [1, 0], [2, 0, 1], [-1, 3], [1, 1, 1, 1]],
    "dtype": ["uint8", "int16", "float16", "float", "float64", "bool", "int64"],
    "Sequence[str]": [[], ["a"], ["a", "b"]],
}


@dataclass
class Program:
    lines: list = field(default_factory=list)
    inputs: dict = field(default_factory=dict)  # name -> (one array for each sample, layout)
    size: int = 1  # of the batch
    returned: list = field(default_factory=list)
    control: bool = False  # whether it has statements that a batch cannot run

    def text(self):
        inside = "".join(f"    {line}\n" for line in self.lines)
        return f"def program({', '.join(self.inputs)}):\n{inside}    return {', '.join(self.returned)},\n"

    def batches(self, iteration):
        """What the inputs are in an iteration: each has its samples in another order, every second one sample less."""
        order = np.roll(np.arange(self.size), -iteration)[: self.size - (iteration % 2 and self.size > 1)]
        return {
            name: penstock.batch([arrays[i] for i in order], layout=layout)
            for name, (arrays, layout) in self.inputs.items()
        }

    def function(self, on_gpu, **more):
        linecache.cache[FILE] = (len(self.text()), None, self.text().splitlines(True), FILE)
        space = names_of(on_gpu, **more)
        exec(compile(self.text(), FILE, "exec"), space)
        return space["program"]


def names_of(on_gpu, **alone):
    """What the lines of a program know. `alone`: what a call without inputs needs outside a pipeline."""
    return {
        "fn": fn,
        "types": types,
        "op": _core.operator_function,
        "gpu": (lambda v: v.gpu()) if on_gpu else (lambda v: v),
        "cpu": (lambda v: v.cpu()) if on_gpu else (lambda v: v),
        "GPU": "gpu" if on_gpu else "cpu",
        "MIXED": "mixed" if on_gpu else "cpu",
        "nan": float("nan"),
        "inf": float("inf"),
        "alone": alone,
    }


def literal(value):
    return repr(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)


def called(name):
    """How a program writes an operator's function."""
    place = fn
    for part in name.split("."):
        place = getattr(place, part, None)
    return f'op("{name}")' if place is None or name.startswith("_") else f"fn.{name}"


def results(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


class Writer:
    """Draws a program. `run` runs a program with control flow on the CPU and gives what it returns."""

    def __init__(self, draw, run, operators=CALLED):
        self.draw, self.run, self.operators = draw, run, operators
        self.program = Program(size=self.pick([1, 1, 2, 3, 3, 4, 5, 8, 17, 40]))
        self.space = names_of(False, batch_size=self.program.size)
        self.values = {}  # what the lines have computed: name -> Batch
        self.count = 0
        self.ended = False

    def pick(self, choices):
        return self.draw(st.sampled_from(list(choices)))

    def chance(self, percent):
        return self.draw(st.integers(0, 99)) < percent

    def number(self):
        return self.draw(st.integers(0, 2**31 - 1))

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    # --- what calls take --------------------------------------------------------------------------------------------------------

    def given(self, arrays, layout=""):
        """A new input of the program with these samples, again from the first one where they are fewer than the batch."""
        name = self.name("x")
        if self.chance(8):
            arrays = [self.strange(array) for array in arrays]
        self.program.inputs[name] = ([arrays[i % len(arrays)] for i in range(self.program.size)], layout)
        self.space[name] = penstock.batch(self.program.inputs[name][0], layout=layout)
        return name

    def strange(self, array):
        """The same array with an extent of 0 or 1, with numbers that are not finite, or in memory that has gaps."""
        kind = self.draw(st.integers(0, 3))
        if array.ndim and kind < 2:
            axis = self.draw(st.integers(0, array.ndim - 1))
            return np.ascontiguousarray(np.take(array, range(min(kind, array.shape[axis])), axis))
        if array.dtype.kind == "f" and array.size and kind == 2:
            array = array.copy()
            array.reshape(-1)[:: self.pick([1, 2, 7])] = self.pick([np.nan, np.inf, -np.inf, -0.0])
        elif array.ndim and kind == 3 and array.dtype != np.uint8:  # the bytes of a file have no gaps
            wide = np.zeros([2 * n for n in array.shape], array.dtype)[tuple(np.s_[::-2] for _ in array.shape)]
            wide[...] = array
            return wide
        return array

    def like(self, array, layout):
        """The values that may stand in for an input: as many axes, mostly with the same names."""
        strict = self.chance(70)
        return [
            name
            for name, value in self.values.items()
            if value.ndim() == array.ndim and (value.layout() == layout or not strict and array.ndim)
        ]

    def placed(self, text, percent=35):
        if self.chance(percent):
            return f"gpu({text})"
        return f"cpu({text})" if self.chance(8) else text

    def keywords(self, name, case):
        schema = {a["name"]: a for a in SCHEMAS[name]["args"]}
        for key, value in case.constants.items():
            argument = schema.get(key, {"per_sample": False, "type": ""})
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if number and argument["per_sample"] and argument["type"] in ("int", "float") and self.chance(30):
                yield key, self.argument(argument, [value])
            else:
                yield key, literal(value)
        for key, values in case.per_sample.items():
            yield key, self.argument(schema[key], values)

    def argument(self, argument, values):
        """One value for each sample, from outside, drawn by the program or a result of another line."""
        found = [name for name, value in self.values.items() if value.ndim() == np.ndim(values[0])]
        if found and self.chance(12):
            kind = "FLOAT" if "float" in argument["type"] else "INT32"
            return self.placed(f"fn.cast({self.pick(found)}, dtype=types.{kind})")
        if argument["type"] == "float" and np.ndim(values[0]) == 0 and self.chance(25):
            low, high = sorted((float(values[0]) * 0.5, float(values[0]) * 1.25))
            text = f"fn.random.uniform(range=[{low!r}, {high!r}], seed={self.number()}, **alone)"
        else:
            kind = np.float32 if "float" in argument["type"] else np.int32
            text = self.given([np.asarray(v, kind) for v in values])
        return self.placed(text, 15)

    def odd(self, name):
        """Another argument of the operator, which often is an error."""
        choices = [a for a in SCHEMAS[name]["args"] if a["type"] in ODD and a["name"] not in ("device", "seed")]
        argument = self.pick(choices) if choices else None
        return [(argument["name"], literal(self.pick(ODD[argument["type"]])))] if argument else []

    def call(self, name, reuse=True):
        """The text of a call; reuse: whether results of other lines stand in for inputs."""
        try:
            case = CASES[name](self.draw)
        except UnsatisfiedAssumption:
            return self.call(name, reuse)
        inputs = []
        for arrays, layout in zip(case.inputs, case.layouts):
            found = self.like(arrays[0], layout) if reuse and self.chance(75) else []
            inputs.append(self.placed(self.pick(found) if found else self.given(arrays, layout)))
        keywords = dict(self.keywords(name, case))
        if SCHEMAS[name]["random"]:
            keywords["seed"] = str(self.number())
        if self.chance(10):
            keywords.update(self.odd(name))
        if name.startswith("decoders.image"):
            keywords["device"] = "MIXED"
        elif self.chance(8):
            keywords["device"] = "GPU"
        arguments = inputs + [f"{k}={v}" for k, v in keywords.items()] + ["**alone"] * (not inputs)
        return f"{called(name)}({', '.join(arguments)})"

    # --- lines ------------------------------------------------------------------------------------------------------------------

    def attempt(self, text):
        """Runs an expression; its results become values of the program. Returns why not, else None."""
        try:
            made = results(eval(text, self.space))
            if sum(b.nbytes for b in made) > LARGEST:
                raise MemoryError("more than a test should compute")
        except Exception as error:
            return error
        names = [self.name("v") for _ in made]
        self.add(f"{', '.join(names)} = {text}")
        self.values.update(zip(names, made))
        self.space.update(zip(names, made))
        return None

    def add(self, line):
        self.program.lines.append(line)

    def operator(self):
        """A call of an operator: one that works, or now and then one that ends the program."""
        name = self.pick(self.pick([self.operators, STAGES, FILES]) if self.operators is CALLED else self.operators)
        for reuse in (True, True, False):
            text = self.call(name, reuse)
            error = self.attempt(text)
            if error is None:
                return
            if not isinstance(error, MemoryError) and self.chance(7):
                self.add(f"{self.name('v')} = {text}")
                self.ended = True
                return

    def expression(self):
        a, b = self.placed(self.pick(self.values)), self.placed(self.pick(self.values))
        c = self.pick(["3", "0.5", "-1", "250", "True", b, b])
        symbol = self.pick(["+", "-", "*", "/", "//", "%", "&", ">", "<=", "==", "!="])
        self.attempt(self.pick([f"{a} {symbol} {c}", f"{c} {symbol} {a}", f"-{a}"]))

    def draws(self):
        shape = self.pick(["", "shape=[2], ", "shape=[3, 4], "])
        if self.values and self.chance(50):
            shape = f"{self.placed(self.pick(self.values))}, "
        kind = self.pick(["uniform(", "normal(", "coin_flip(", "beta("])
        more = "" if "v" in shape else ", **alone"
        self.attempt(f"fn.random.{kind}{shape}seed={self.number()}{more})")

    # --- statements that only pipelines have -------------------------------------------------------------------------------------

    def condition(self):
        value = self.placed(self.pick(self.program.returned or self.values), 20)
        return self.pick(
            [
                f"fn.reductions.mean(fn.cast({value}, dtype=types.FLOAT)) > {self.pick([0, 0.5, 100])}",
                f"fn.cast({value}.shape()[0], dtype=types.INT32) % 2 == 0",
                f"fn.random.coin_flip(seed={self.number()})",
                f"fn.random.uniform(range=[0, 1], seed={self.number()}) < 0.3",
            ]
        )

    def change(self, name):
        """A line that gives a variable another value."""
        if self.chance(40):
            part = self.pick(["0", "-1", "...", "0:2", "..., 0", "::2", f"{name} > 1"])
            return f"{name}[{part}] {self.pick(['=', '+=', '*='])} {self.pick(['1', '0.5', 'True'])}"
        for _ in range(3):
            operator = self.pick(STAGES)
            text = self.call(operator)
            if name in text:
                break
        return f"{name} = {text}"

    def statement(self):
        name = self.pick(self.values)
        kind = self.draw(st.integers(0, 9))
        if kind < 4:
            lines = [f"if {self.condition()}:", f"    {self.change(name)}"]
            if self.chance(40):
                lines += ["else:", f"    {self.change(name)}"]
        elif kind < 6:
            lines = [f"for k in range({self.pick([1, 2, 3])}):", f"    {self.change(name)}"]
        elif kind < 8:
            trips = self.given([np.array(self.draw(st.integers(0, 3)), np.int32) for _ in range(self.program.size)])
            lines = [f"for k in range({trips}):", f"    {self.change(name)}"]
            if self.chance(40):
                lines += [
                    f"    if {self.condition()}:",
                    f"        {self.pick(['break', 'continue'])}",
                    f"    {self.change(name)}",
                ]
        else:
            lines = [self.change(name)]
        before = list(self.program.lines)
        self.program.lines += lines
        self.program.control = True
        self.program.returned = list(self.values)
        if not self.run(self.program):
            self.program.lines = before

    def written(self):
        """The program; None where no line was found that runs."""
        lines, statements = self.draw(st.integers(1, 6)), self.pick([0, 0, 1, 2])
        for _ in range(lines):
            kind = self.draw(st.integers(0, 9)) if self.values else 0
            (self.operator if kind < 7 else self.expression if kind < 9 else self.draws)()
            if self.ended:
                break
        for _ in range(statements if self.values and not self.ended else 0):
            self.statement()
        program = self.with_what_is_used() if self.program.lines else None
        if program and not self.ended and self.chance(12):
            self.other_samples()
        return program

    def other_samples(self):
        """A last line that leaves out or repeats samples of all that is returned."""
        program = self.program
        names = ", ".join(program.returned)
        change = self.pick(["filter({}, keep={}, min_batch=0)", "expand({}, k=fn.cast({}, dtype=types.INT32) + {})"])
        change = change.format(names, self.condition(), self.pick([0, 1, 2]))
        before = list(program.lines), program.control
        program.lines.append(f"{names} = fn.{change}")
        program.control = True
        if not self.run(program):
            program.lines, program.control = before

    def with_what_is_used(self):
        """The program returns each value that no other line reads: what nobody uses, a pipeline leaves out."""
        program = self.program
        words = Counter(word for line in program.lines for word in re.findall(r"\w+", line.split(" = ", 1)[-1]))
        made = list(self.values) + [line.split(" = ")[0] for line in program.lines[-1:] if self.ended]
        program.returned = [name for name in made if not words[name] or self.chance(25)] or made[-1:]
        program.inputs = {name: given for name, given in program.inputs.items() if words[name]}
        return program if program.inputs else None
