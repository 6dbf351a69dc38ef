# SPDX-License-Identifier: Apache-2.0
"""Writes tests/cvcuda_arguments.json: the functions of CV-CUDA with the names of their arguments, its enumerations and formats.

Run it with the stub of an unpacked wheel: `python tools/dump_cvcuda_arguments.py cvcuda/__init__.pyi 0.19.0`. CV-CUDA itself, which
needs a GPU, is not imported.
"""

import ast
import json
import sys
from pathlib import Path

from repository import ROOT

TARGET = ROOT / "tests" / "cvcuda_arguments.json"


def arguments(function):
    a = function.args
    return [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


def facts(tree):
    functions, enumerations = {}, {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            forms = functions.setdefault(node.name, [])
            if arguments(node) not in forms:
                forms.append(arguments(node))
        elif isinstance(node, ast.ClassDef):
            values = [m.target.id for m in node.body if isinstance(m, ast.AnnAssign)]
            members = [v for v in values if v != "__members__"]
            if members:
                enumerations[node.name] = members
    return functions, enumerations


def main():
    stub, version = sys.argv[1:]
    functions, enumerations = facts(ast.parse(Path(stub).read_text()))
    found = {"version": version, "functions": functions, "enumerations": enumerations}
    TARGET.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
