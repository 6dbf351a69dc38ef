# SPDX-License-Identifier: Apache-2.0
"""Every function, argument and enumeration of CV-CUDA is here, or has a reason."""

import json
from pathlib import Path

import penstock.cvcuda as cvcuda
import pytest
from penstock import fn
from penstock.cvcuda import calls, facts, signatures

FACTS = json.loads((Path(__file__).parent / "cvcuda_arguments.json").read_text())
FUNCTIONS = FACTS["functions"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_arguments_of_cvcuda_or_a_reason(name):
    plain = name.removesuffix("_into")
    if plain in facts.MISSING or name in facts.MISSING:
        assert not hasattr(cvcuda, name)
        return
    function = getattr(cvcuda, name)
    if not isinstance(function, calls.Function):
        return
    ours = [set(signature.parameters) for _, signature in function.signatures]
    for form in FUNCTIONS[name]:
        assert any(set(form) <= names for names in ours), form


@pytest.mark.parametrize("name", FACTS["enumerations"])
def test_an_enumeration_has_all_members(name):
    kind = getattr(cvcuda, name)
    assert [m for m in FACTS["enumerations"][name] if not hasattr(kind, m)] == []


def test_what_differs_is_what_is_there():
    assert set(facts.DIFFERENT) <= set(calls.ROWS) and not set(facts.MISSING) & set(calls.ROWS)
    assert set(facts.MISSING) <= set(FUNCTIONS)


def test_an_operator_that_is_not_there_is_named():
    with pytest.raises(NotImplementedError, match="no fn.not_there, which this call needs"):
        signatures.found("not_there")
    assert signatures.found("resize") is fn.resize
