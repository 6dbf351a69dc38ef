# SPDX-License-Identifier: Apache-2.0
"""What editors and notebooks offer after a dot: public names, all of them, and nothing of the inside."""

import types as python_types

import jedi
import penstock
from penstock import types


def offered(text):
    """What a notebook completes, without names of Python such as __doc__."""
    names = [c.name for c in jedi.Interpreter(text, [{"penstock": penstock, "types": types}]).complete()]
    return {name for name in names if not name.startswith("__")}


def test_the_package_offers_its_public_names():
    names = {name for name in dir(penstock) if not name.startswith("__")}
    assert offered("penstock.") == names and set(penstock.__all__) <= names
    assert all(getattr(penstock, name) is not None for name in names)
    assert not any(name.startswith("_") for name in names)
    inside = {
        "base",
        "control_flow",
        "debugging",
        "former_names",
        "graph",
        "operators",
        "settings",
        "sources",
        "workers",
    }
    assert not names & inside and "__version__" in dir(penstock)


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
