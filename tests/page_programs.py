# SPDX-License-Identifier: Apache-2.0
"""The Python blocks of the pages as programs that a type checker can read: with the names that a page takes for granted."""

import ast
import builtins
import re

# What pages import once, or not at all.
KNOWN = {
    "F": "import torch.nn.functional as F",
    "annotations": "from penstock import annotations",
    "augment": "from penstock import augment",
    "dist": "import torch.distributed as dist",
    "fn": "from penstock import fn",
    "json": "import json",
    "np": "import numpy as np",
    "penstock": "import penstock",
    "pipeline_def": "from penstock import pipeline_def",
    "torch": "import torch",
    "types": "from penstock import types",
}


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


class _Names(ast.NodeVisitor):
    """Names that a block reads and that nothing in it has assigned before."""

    def __init__(self):
        self.assigned, self.taken = set(dir(builtins)), []

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.taken += [node.id] * (node.id not in self.assigned)
        else:
            self.assigned.add(node.id)

    def visit_Assign(self, node):  # what is read comes first
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_For(self, node):
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def _comprehension(self, node):
        before = set(self.assigned)
        for loop in node.generators:
            for part in (loop.iter, loop.target, *loop.ifs):
                self.visit(part)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self.assigned = before

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def _import(self, node):
        self.assigned |= {(a.asname or a.name).partition(".")[0] for a in node.names}

    visit_Import = visit_ImportFrom = _import

    def _function(self, node):
        for part in (*getattr(node, "decorator_list", ()), *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        if hasattr(node, "name"):
            self.assigned.add(node.name)
        before, given = set(self.assigned), node.args
        self.assigned |= {
            a.arg
            for a in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
            if a is not None
        }
        for part in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(part)
        self.assigned = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node):
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
        self.assigned.add(node.name)
        before = set(self.assigned)
        for part in node.body:
            self.visit(part)
        self.assigned = before


def _imports(tree):
    """The names that a block imports, each with its line."""
    return {
        (a.asname or a.name).partition(".")[0]: ast.unparse(type(node)(**{**vars(node), "names": [a]}))
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for a in node.names
    }


def programs(text):
    """A program for each Python block of a page. Names of earlier blocks and of the reader's own code are of any type,
    those of modules are imported: `from outside import name` needs the module `outside` (OUTSIDE) beside the programs."""
    known = dict(KNOWN)
    for block in blocks(text):
        try:
            tree = ast.parse(block)
        except SyntaxError:  # with ... for what is left out
            continue
        found = _Names()
        found.visit(tree)
        taken = sorted(set(found.taken))
        lines = [known.get(name, f"from outside import {name}") for name in taken]
        known |= _imports(tree)
        if any(isinstance(node, ast.Return) for node in tree.body):  # the rest of a function
            block = "def rest():\n" + "".join(f"    {line}\n" for line in block.splitlines())
            lines = [line for line in lines if "from outside" not in line] + [
                f"from outside import {name}" for name in taken if name not in known
            ]
        yield "\n".join([*dict.fromkeys(lines), block])


OUTSIDE = """from typing import Any
def __getattr__(name: str) -> Any: ...
"""
