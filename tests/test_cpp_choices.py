# SPDX-License-Identifier: Apache-2.0
"""The enumerations of the headers for C++ (tools/cpp_choices.py) hold what the operators take, and nothing else."""

import re
import sys
from pathlib import Path

import operator_calls
import pytest
import strategies
from hypothesis import HealthCheck, Phase, given, settings

from penstock import _core

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import cpp_choices  # noqa: E402

# Enumerations are shared: of these an operator takes only the first ones.
FEWER = {("crop_mirror_normalize", "out_of_bounds_policy"): 3}
FOLDER = ROOT / "include" / "penstock" / "fn"
CHOICES = [
    (name, argument["name"], cpp_choices.values_of(argument))
    for name in _core.operators(True)
    if name in strategies.CASES and not name.startswith("_")
    for argument in _core.operator_schema(name)["args"]
    if cpp_choices.values_of(argument)
]


def refusal(name, case, argument, value):
    """The message with which a call refuses a value, without the value; "" if it takes it."""
    try:
        operator_calls.call(name, case, **{argument: value})
    except (ValueError, TypeError) as error:
        return str(error).replace(value, "@")
    return ""


@pytest.mark.parametrize("name, argument, values", CHOICES)
def test_an_operator_takes_each_value_and_no_other(name, argument, values):
    @settings(
        max_examples=1,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(strategies.case_of(name))
    def check(case):
        unknown = refusal(name, case, argument, "nothing_like_it")
        assert unknown, f"{name} takes any text for {argument}"
        for value in values[: FEWER.get((name, argument))]:
            assert refusal(name, case, argument, value) != unknown, f"{name} refuses {argument}='{value}'"

    check()


def test_most_operators_with_choices_are_called():
    assert len(CHOICES) > 40


def fields(text, struct):
    body = re.search(rf"^struct {struct} \{{\n(.*?)^  Arguments list", text, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^  ([\w:<>]+) (\w+)\{\};$", body, re.MULTILINE)


def test_fields_have_the_order_that_is_promised_and_an_effect():
    """Required ones, sizes, then by the alphabet; none that Python accepts without effect."""
    names = [name for _, name in fields((FOLDER / "geometry.h").read_text(), "ResizeArguments")]
    assert names[:5] == ["size", "resize_x", "resize_y", "resize_z", "resize_shorter"]
    assert names[6:] == sorted(names[6:])
    conversion = fields((FOLDER / "color.h").read_text(), "ColorSpaceConversionArguments")
    assert conversion[:3] == [
        ("Choice<ColorFormat>", "image_type"),
        ("Choice<ColorFormat>", "output_type"),
        ("Choice<ColorSpec>", "color_spec"),
    ]
    for header in FOLDER.glob("*.h"):
        assert "ccepted without effect" not in header.read_text()
