# SPDX-License-Identifier: Apache-2.0
"""What editors and notebooks offer after a dot: public names, all of them, and nothing of the inside."""

import pkgutil
import re
import types as python_types
from pathlib import Path

import jedi
import penstock
from penstock import _former_names, types

ROOT = Path(__file__).resolve().parents[1]


def offered(text):
    """What a notebook completes, without names of Python such as __doc__."""
    names = [c.name for c in jedi.Interpreter(text, [{"penstock": penstock, "types": types}]).complete()]
    return {name for name in names if not name.startswith("__")}


def test_the_package_offers_its_public_names():
    names = {name for name in dir(penstock) if not name.startswith("__")}
    assert offered("penstock.") == names and set(penstock.__all__) <= names
    assert all(getattr(penstock, name) is not None for name in names)
    assert not any(name.startswith("_") for name in names)
    assert not names & set(_former_names.PRIVATE) and "__version__" in dir(penstock)


def test_modules_without_an_underscore_are_those_of_the_pages():
    """A module that no page names has an underscore: editors list the files of the folder, whatever dir() says."""
    found = {m.name for m in pkgutil.iter_modules(penstock.__path__) if not m.name.startswith("_")}
    said = {c.name for c in jedi.Script("import penstock.").complete() if not c.name.startswith("_")}
    assert (
        found
        == said
        == {name for name in dir(penstock) if name not in penstock.__all__ and name[0] != "_"}
        | {name for name in penstock.__all__ if isinstance(getattr(penstock, name), python_types.ModuleType)}
    )
    pages = [page.read_text() for page in (ROOT / "docs").rglob("*.md") if "decisions" not in page.parts]
    named = {name for page in pages for name in re.findall(r"penstock\.(\w+)|from penstock import ([^#\n]*)", page)}
    named = {word for pair in named for part in pair for word in re.findall(r"\w+", part)}
    assert found - named == set(), "no page names them"
    by_module = {name for page in pages for name in re.findall(r"\bpenstock\.(\w+)", page)}
    assert by_module & set(_former_names.PRIVATE) <= {"pipeline", "sources"}, "loggers, which keep their names"


def test_types_offer_every_constant_and_no_module():
    names = offered("types.")
    constants = {*types.DType.__members__, *types.ImageType.__members__} - {"PYTHON_OBJECT"}
    assert {name for name in constants if hasattr(types, name)} <= names
    assert {"FLOAT", "UINT8", "RGB", "INTERP_LINEAR", "INTERP_CUBIC", "Constant", "SampleInfo"} <= names
    assert not [name for name in names if isinstance(getattr(types, name), python_types.ModuleType)]
    assert not {"check_policies", "TYPE_CHECKING", "annotations"} & names


def test_an_operator_of_the_group_is_offered():
    assert {"uniform", "normal"} <= offered("penstock.fn.random.")
    assert "resize" in offered("penstock.fn.res")


def test_completers_that_read_the_source_find_all_public_names():
    said = {c.name for c in jedi.Script("import penstock\npenstock.").complete()}
    assert set(penstock.__all__) <= said
    text = "import penstock\n@penstock.pipeline_def(batch_size=3)\ndef f(folder): ...\nf('a').ru"
    assert [c.name for c in jedi.Script(text).complete()] == ["run"]
