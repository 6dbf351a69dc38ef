# SPDX-License-Identifier: Apache-2.0
"""Generated stubs name the parameters that functions take at run time."""

import ast
import inspect
from pathlib import Path

import penstock
import pytest
from penstock import albumentations, cvcuda
from penstock.albumentations.transforms import CLASSES
from penstock.cvcuda.calls import ROWS
from penstock.dali import fn

PACKAGE = Path(penstock.__file__).parent


def parameters(function, skipped=()):
    a = function.args
    return tuple(p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs) if p.arg not in ("self", *skipped))


@pytest.mark.parametrize("suffix", ["", "_into"])
def test_functions_of_cvcuda(suffix):
    stub = {}
    for node in ast.parse((PACKAGE / "cvcuda" / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            stub.setdefault(node.name, set()).add(parameters(node))
    for name in ROWS:
        forms = {tuple(signature.parameters) for _, signature in getattr(cvcuda, name + suffix).signatures}
        assert stub[name + suffix] == forms, name
    assert len(stub) == 2 * len(ROWS)


def test_enumerations_types_and_formats_of_cvcuda():
    for file in ("enumerations", "formats"):
        for node in ast.parse((PACKAGE / "cvcuda" / f"{file}.pyi").read_text()).body:
            if isinstance(node, ast.ClassDef):
                kind = getattr(cvcuda, node.name)
                for member in node.body:
                    if isinstance(member, ast.Assign):
                        assert getattr(kind, member.targets[0].id) == ast.literal_eval(member.value)
                    elif isinstance(member, ast.AnnAssign):
                        assert hasattr(cvcuda.Format.RGB8 if kind is cvcuda.Format else kind, member.target.id)
    for name in cvcuda.enumerations.NAMES:
        assert f"class {name}(IntEnum)" in (PACKAGE / "cvcuda" / "enumerations.pyi").read_text()


def test_transforms_of_albumentations():
    stub = {}
    for node in ast.parse((PACKAGE / "albumentations" / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name != "Transform":
            stub[node.name] = parameters(node.body[1], ("mask_interpolation", "rotate_method"))
    assert stub == {name: tuple(inspect.signature(getattr(albumentations, name)).parameters) for name in CLASSES}


def test_names_of_dali():
    tree = ast.parse((PACKAGE / "dali" / "fn.pyi").read_text())
    named = {a.asname: a.name for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names if a.asname}
    named |= {node.targets[0].id: ast.unparse(node.value) for node in tree.body if isinstance(node, ast.Assign)}
    assert set(named) == set(dir(fn)) - {"inputs"}  # another name of experimental.inputs
