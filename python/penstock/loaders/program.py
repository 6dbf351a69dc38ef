# SPDX-License-Identifier: Apache-2.0
"""Programs as text: a loader is made by running its program, so what is printed is what runs."""

import ast
import linecache
import os
import re

_LONGEST = 300  # characters of a value that the text shows itself

_IMPORTS = {
    "penstock": ("annotations", "augment", "fn", "pipeline_def", "types"),
    "penstock.loaders": ("Loader",),
    "penstock.sample": ("Boxes", "Instances", "Keypoints", "Mask", "Sample"),
}


def _imports(text):
    """The lines that import what a program uses."""
    words = set(re.findall(r"\w+", text))
    used = {module: [n for n in names if n in words] for module, names in _IMPORTS.items()}
    return "".join(f"from {module} import {', '.join(names)}\n" for module, names in used.items() if names)


class Program:
    """Collects the lines of a program, and the values that it cannot show as text."""

    def __init__(self):
        self.given = {}
        self.arguments = []  # of the pipeline
        self.lines = []  # of its function

    def value(self, name, value):
        """The text of a value: itself if it is short and plain, else a name that the program is given."""
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        said = repr(value)
        if len(said) <= _LONGEST:
            try:
                if ast.literal_eval(said) == value:
                    return said
            except (ValueError, SyntaxError):
                pass
        self.given[name] = value
        return name

    def call(self, function, *positional, **arguments):
        """The text of a call; arguments that are None are left out."""
        parts = [self.value(f"value_{k}", v) for k, v in enumerate(positional)]
        parts += [f"{n}={self.value(n, v)}" for n, v in arguments.items() if v is not None]
        return f"{function}({', '.join(parts)})"

    def text(self, table, outputs, returned, loader):
        """The whole program."""
        needs = "".join(f"# {n} is what the loader was given: loader.given[{n!r}]\n" for n in self.given)
        body = "".join(f"    {line}\n" for line in [*self.lines, f"return {', '.join(returned)}"])
        names = ", ".join(map(repr, outputs))
        text = (
            f"{needs}table = {table}\n\n\n@pipeline_def({', '.join(self.arguments)})\ndef batches():\n{body}\n\n"
            f"loader = Loader(batches(), [{names}], table=table{loader})\n"
        )
        return f"{_imports(text)}\n{text}"


def run(text, given):
    """The loader that a program makes."""
    name = f"<program of a loader {hash(text) & 0xFFFFFFFF:x}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)  # errors then show its lines
    names = {"__name__": f"{__package__}.programs", **given}
    exec(compile(text, name, "exec"), names)
    loader = names["loader"]
    loader.program, loader.given = text, given
    return loader
