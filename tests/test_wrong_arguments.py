# SPDX-License-Identifier: Apache-2.0
"""Every argument of every operator and every option of a pipeline, given a wrong type and a wrong value: the message names the
argument and what was given, and says what it wants: the type or the choices."""

import inspect
import re

import numpy as np
import penstock
import pytest
from penstock import _core, fn

IMAGE = np.arange(9 * 8 * 3, dtype=np.uint8).reshape(9, 8, 3)
NOT_ONE = object()
# By the type of the argument: what is wrong, how the message shows it, and what it wants instead.
WRONG = {
    "bool": [("perhaps", "'perhaps'", "True or False"), (NOT_ONE, "object", "True or False")],
    "int": [
        ("a", "'a'", "an integer|must be one of '"),
        (2.25, "2.25", "an integer|at least"),
        (NOT_ONE, "object", "an integer"),
    ],
    "float": [("a", "'a'", "a number|a list of numbers"), (NOT_ONE, "object", "a number")],
    "str": [(2.25, "2.25", "a string"), (NOT_ONE, "object", "a string")],
    "dtype": [
        ("float31", "'float31'", "did you mean 'float32'"),
        (7.5, "7.5", "such as 'uint8' or 'float32'"),
        (NOT_ONE, "object", "such as 'uint8' or 'float32'"),
    ],
    "Sequence[int]": [("a", "'a'", "a list of integers"), ([2.25], "2.25", "an integer|at least")],
    "Sequence[float]": [("a", "'a'", "a list of numbers"), (NOT_ONE, "object", "a list of numbers")],
    "Sequence[str]": [(7, "7", "a list of strings"), (NOT_ONE, "object", "a list of strings")],
}
VALUES = {"bool": True, "int": 8, "float": 2.0, "str": "x", "dtype": "uint8", "Sequence[int]": [8, 8]}
VALUES |= {"Sequence[float]": [2.0, 2.0], "Sequence[str]": ["x"]}

SPACES = {"image_type": 0, "output_type": 2}


def said(name, given):
    """The first line of the error of a node with an argument, "" without one; the other required ones get some value of their
    type."""
    schema = _core.operator_schema(name)
    required = {a["name"]: SPACES.get(a["name"], VALUES[a["type"]]) for a in schema["args"] if a["required"]}
    inputs = [penstock.batch([IMAGE], layout="HWC") for _ in range(schema["min_inputs"])]
    try:
        with penstock.Pipeline(batch_size=1, num_threads=1, device_id=None):
            _core.operator_function(name)(*inputs, **{**required, **given})
    except (TypeError, ValueError, KeyError) as error:
        return error.args[0].split("\n")[0]
    return ""


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_type_names_the_argument_and_the_type(kind):
    bad = []
    for name in _core.operators():
        for argument in _core.operator_schema(name)["args"]:
            if argument["type"] != kind:
                continue
            for value, shown, wanted in WRONG[kind]:
                message = said(name, {argument["name"]: value})
                place = f"{name}({argument['name']}={value!r}): {message}"
                if not (
                    re.search(rf"\b{argument['name']}\b", message) and shown in message and re.search(wanted, message)
                ):
                    bad.append(place)
    assert not bad, "\n".join(bad)


# Arguments of text whose values are free: names, paths, letters of layouts, and those that are looked at with the data.
FREE = {("dump_image", "suffix"), ("normalize", "axis_names"), ("pad", "axis_names"), ("python_function", "function")}


def test_a_wrong_choice_lists_the_choices():
    refused = 0
    for name in _core.operators():
        schema = _core.operator_schema(name)
        if schema["family"] == "source" or (name, "function") in FREE:
            continue
        for argument in schema["args"]:
            if argument["type"] != "str" or (name, argument["name"]) in FREE:
                continue
            message = said(name, {argument["name"]: "nonsense"})
            if re.search(rf"\b{argument['name']} must (be|name)\b", message):
                refused += 1
                assert re.search(r"\bor\b|one of|at most once|one letter|must be \S+, got", message), (name, message)
                assert re.search(rf"\b{argument['name']}\b", message) and "nonsense" in message, (name, message)
    assert refused > 50


@pytest.mark.parametrize("name", ["seed", "batch_size", "device"])
@pytest.mark.parametrize("value", ["a", 2.5])
def test_arguments_of_all_operators(name, value):
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b.*{value}"):
        fn.random.uniform(range=[0.0, 1.0], **{name: value})
    if name == "batch_size":  # of the pipeline
        return
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b.*{value}"):
        with penstock.Pipeline(batch_size=1, num_threads=1):
            fn.random.uniform(range=[0.0, 1.0], **{name: value})


CHOICES = {
    "on_error": ("raise", "skip", "replace"),
    "late": ("wait", "swap"),
    "py_start_method": ("fork", "spawn"),
    "debug": ("True", "False", "times"),
    "stream_policy": ("SINGLE", "PER_OPERATOR"),
    "concurrency": ("NONE", "BACKEND"),
}
ANY_OBJECT = {
    "experimental_exec_dynamic",
    "py_callback_pickler",
    "checkpoint",
    "output_dtype",
    "output_layout",
    "output_ndim",
}


def test_options_of_a_pipeline_say_what_they_want():
    for name in inspect.signature(penstock.Pipeline).parameters:
        if name in ANY_OBJECT:
            continue
        for value in ("nonsense", NOT_ONE) if name != "entropy_index" else (NOT_ONE,):
            with pytest.raises((TypeError, ValueError)) as error:
                penstock.Pipeline(**{"batch_size": 1, "num_threads": 1, name: value})
                pytest.fail(f"{name}={value!r} was accepted")
            message = str(error.value)
            assert message.startswith(name) and repr(value) in message, message
            assert all(choice in message for choice in CHOICES.get(name, ())), message
            kinds = r"integer|whole number|number of a GPU|True|one of|must be|path"
            assert re.search(kinds, message), message


def test_a_seed_has_64_bits():
    penstock.Pipeline(batch_size=1, num_threads=1, seed=2**64 - 1)
    with pytest.raises(ValueError, match=r"seed must be less than 2\*\*64, got 18446744073709551616"):
        penstock.Pipeline(batch_size=1, num_threads=1, seed=2**64)
