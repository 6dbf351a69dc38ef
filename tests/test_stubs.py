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
        if isinstance(node, ast.ClassDef) and node.name != "_Transform":
            stub[node.name] = parameters(node.body[1], ("mask_interpolation", "rotate_method"))
    assert stub == {name: tuple(inspect.signature(getattr(albumentations, name)).parameters) for name in CLASSES}


STUBS = sorted(file.relative_to(PACKAGE).with_suffix("").as_posix() for file in PACKAGE.rglob("*.pyi"))
# Stubs of what users do not name: they show the part that other files' annotations need.
INSIDE = {"_core", "cvcuda/enumerations", "cvcuda/formats", "cvcuda/shapes"}
WITHOUT_MODULE = {"dali/calls", "_pipeline/calls"}  # types alone, which nothing has at run time


def module_of(stub):
    """The module that a stub describes; a group of dali.fn is made at run time and has a stub beside fn.pyi."""
    group, _, last = stub.removesuffix("/__init__").rpartition("/")
    if last.startswith("_fn_"):
        last = last.removeprefix("_").replace("_", ".")
    module = penstock
    for part in [*filter(None, group.split("/")), *last.split(".")]:
        module = getattr(module, part)
    return module


def names_given(stub):
    """The public names that a stub gives to those who import it, without those that only its annotations use."""
    found = set()
    for node in ast.parse((PACKAGE / f"{stub}.pyi").read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname for a in node.names if a.asname == a.name}  # PEP 484: others are not given
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) != "TypeAlias":
            found.add(node.target.id)
        elif isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith(("TypeVar(", "ParamSpec(")):
            found.add(node.targets[0].id)
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("stub", [stub for stub in STUBS if stub not in WITHOUT_MODULE])
def test_a_stub_has_the_names_of_its_module(stub):
    module = module_of(stub)
    given = names_given(stub)
    public = {name for name in dir(module) if not name.startswith("_")}
    assert given and all(hasattr(module, name) for name in given)
    assert given <= public if stub in INSIDE else given == public


@pytest.mark.parametrize("module", [albumentations, cvcuda, penstock.fn], ids=lambda module: module.__name__)
def test_dir_shows_no_module_of_the_inside(module):
    shown = set(dir(module))
    assert not {"TYPE_CHECKING", "ModuleType", "sys", "calls", "table", "_late"} & shown
    assert set(getattr(module, "__all__", ())) <= shown and {"__doc__", "__name__"} <= shown


def test_further_names_are_the_same_function():
    assert penstock.fn.inputs.video is penstock.fn.experimental.inputs.video
    assert penstock.fn.experimental.readers.fits is penstock.fn.readers.fits
