# SPDX-License-Identifier: Apache-2.0
"""Every operator of DALI and of CV-CUDA is here and runs on both devices, or a page says why not."""

import json
import re
from pathlib import Path

import pytest

from penstock import _core, fn
from penstock.cvcuda import calls
from penstock.cvcuda import facts as cvcuda_facts
from penstock.dali import aliases

HERE = Path(__file__).parent
DALI = json.loads((HERE / "dali_arguments.json").read_text())
CVCUDA = json.loads((HERE / "cvcuda_arguments.json").read_text())["functions"]
SCHEMAS = {name: _core.operator_schema(name) for name in _core.operators(True)}
PAGES = HERE.parent / "docs" / "reference"
# The parts of `if` and of expressions have no names that programs write.
OPERATORS = [
    name
    for name, facts in DALI.items()
    if isinstance(facts, dict) and "arguments" in facts and not name.startswith("_")
]


def present_name(name):
    now = aliases.DEPRECATED.get(name, name)
    over = aliases.OVER.get(now, (now,))[0]
    return aliases.NAMES.get(over, over)


def is_here(name):
    try:
        found = fn
        for part in name.split("."):
            found = getattr(found, part)
    except AttributeError:
        return False
    return callable(found)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_of_dali_is_here_on_both_devices_or_has_a_reason(name):
    own = present_name(name)
    if name in aliases.REFUSED:
        assert not is_here(own), f"{name} is here: take it out of REFUSED"
        return
    assert is_here(own), f"fn.{own} is missing: add it, or say in penstock/dali/aliases.py why not"
    if own in SCHEMAS and SCHEMAS[own]["family"] != "source":
        assert SCHEMAS[own]["both_devices"] or SCHEMAS[own]["host_only"], f"{own} runs on one device"


def test_what_is_missing_of_dali_is_an_operator_of_it():
    assert set(aliases.REFUSED) <= set(OPERATORS)


@pytest.mark.parametrize("name", sorted({n.removesuffix("_into") for n in CVCUDA} - set(cvcuda_facts.MISSING)))
def test_an_operator_of_cvcuda_is_here_on_both_devices_or_has_a_reason(name):
    if name not in calls.ROWS:
        assert not is_operator_of_cvcuda(name), f"{name} is missing: add a row, or say in facts.py why not"
        return
    alone = [o for o in calls.ROWS[name].over if o in SCHEMAS and not SCHEMAS[o]["both_devices"]]
    assert not alone or name in cvcuda_facts.ON_HOST, f"{name} runs on one device, by {alone}"
    assert all(is_here(o) for o in calls.ROWS[name].over), name


def is_operator_of_cvcuda(name):
    """Operators have a form that writes into an output; containers and settings have none."""
    return f"{name}_into" in CVCUDA


def test_what_runs_on_the_host_is_a_row():
    assert set(cvcuda_facts.ON_HOST) <= set(calls.ROWS)


@pytest.mark.parametrize("page, named", [("dali.md", aliases.REFUSED), ("cvcuda.md", cvcuda_facts.MISSING)])
def test_pages_give_the_reasons(page, named):
    text = (PAGES / page).read_text()
    for name, why in named.items():
        assert re.search(rf"^\| `{re.escape(name)}` \| {re.escape(why)} \|$", text, re.MULTILINE), name
    assert "not there yet" not in text and "not yet" not in text
