# SPDX-License-Identifier: Apache-2.0
"""Names of other libraries lead to the names here: every operator and argument in the table exists."""

import re

import numpy as np
import pytest

import penstock
from penstock import _core, fn
from penstock import albumentations as A
from penstock._base.other_names import _ALIKE, NAMES, OF_LOADERS, OF_THE_PACKAGE, alike

IMAGE = np.zeros((4, 4, 3), np.uint8)

COMMON = {"device", "name", "seed"}
IN_PYTHON = {"external_source": {"source"}, "python_function": {"function"}}


def calls(text):
    """(name, keywords) of each call of an operator in the text, those in arguments too."""
    for match in re.finditer(r"fn\.([a-z_0-9.]*[a-z0-9])", text):
        name, rest, depth, own = match[1], text[match.end() :], 0, ""
        for c in rest if rest.startswith("(") else "":
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(c, 0)
            if depth == 0:
                break
            own += c if depth == 1 else ""
        yield name, set(re.findall(r"(\w+)=", own))


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_table_speaks_of_what_exists(name):
    here = NAMES[name]
    assert not hasattr(fn, name), "the operator exists by this name"
    found = list(calls(here))
    assert found or "`" in here
    for operator, keywords in found:
        target = fn
        for part in operator.split("."):
            target = getattr(target, part)
        if operator in IN_PYTHON:
            assert keywords <= IN_PYTHON[operator]
            continue
        known = {a["name"] for a in _core.operator_schema(operator)["args"]} if operator in _core.operators() else None
        assert known is None or keywords <= known | COMMON, (operator, keywords - known)
    for path in re.findall(r"penstock\.((?:math|torch)\.\w+)", here):
        target = penstock
        for part in path.split("."):
            target = getattr(target, part)
    with pytest.raises(AttributeError, match="penstock.fn' has no attribute '" + name) as error:
        getattr(fn, name)
    assert here in str(error.value)
    camel = "".join(w.capitalize() for w in name.split("_"))
    if not re.search(r"\d|_[a-z]_|^[a-z]_", name):
        with pytest.raises(AttributeError) as error:
            getattr(fn, camel)
        assert here in str(error.value) or camel.lower() in here.lower()


def test_near_names_and_names_of_the_package():
    for name, near in (
        ("resise", "fn.resize"),
        ("gausian_blur", "fn.gaussian_blur"),
        ("sharpen", r"fn.adjust_sharpness"),
    ):
        with pytest.raises(AttributeError, match=f"did you mean {near}"):
            getattr(fn, name)
    with pytest.raises(
        AttributeError, match=r"'penstock.fn.random' has no attribute 'unifrm': did you mean fn.random.uniform\?"
    ):
        fn.random.unifrm
    with pytest.raises(AttributeError, match="has no attribute 'qqqqqq'$"):
        fn.qqqqqq
    assert not hasattr(fn, "__wrapped__") and not hasattr(fn.random, "_x")
    for name in OF_THE_PACKAGE:
        if not hasattr(penstock, name):
            with pytest.raises(AttributeError, match="did you mean penstock|did you mean a function"):
                getattr(penstock, name)
    with pytest.raises(AttributeError, match=r"did you mean penstock.fn.resize\?"):
        penstock.resize


@pytest.mark.parametrize(
    "operator, argument, here",
    [
        ("resize", "height", r"no argument 'height': write size=\(height, width\)$"),
        ("resize", "interpolation", "no argument 'interpolation': write interp_type="),
        ("random_resized_crop", "output_size", r"write size=\(height, width\)"),
        ("random_resized_crop", "scale", r"write random_area=\[0.08, 1.0\]"),
        ("resize_crop_mirror", "resample", "write interp_type="),
        ("crop", "size", r"write crop=\(height, width\)"),
        ("rotate", "degrees", "write angle=, in degrees"),
        ("rotate", "fill", "write fill_value="),
        ("gaussian_blur", "kernel_size", "write window_size="),
        ("brightness", "factor", "write brightness="),
        ("flip", "p", r"penstock.augment.maybe\(x, function, p=0.5\)"),
        ("flip", "pin_memory", "batches of a GPU are made there"),
        ("flip", "horizonal", r", did you mean 'horizontal'\?"),
    ],
)
def test_arguments_of_other_libraries_lead_to_those_here(operator, argument, here):
    said = []
    with pytest.raises(TypeError) as error:
        getattr(fn, operator)(IMAGE, **{argument: 8})
    said.append(str(error.value))
    with penstock.Pipeline(batch_size=1, num_threads=1), pytest.raises(TypeError) as error:
        getattr(fn, operator)(fn.zeros(shape=[4, 4, 3]), **{argument: 8})
    said.append(str(error.value).split("\n")[0])
    assert said[0] == said[1] and re.search(here, said[0])


def test_calls_outside_pipelines_have_the_hints_of_the_table():
    """For every operator and every name in the table that it has not and another name for."""
    asked = 0
    names = {name for group in _ALIKE for name in group}
    for operator in _core.operators():
        schema = _core.operator_schema(operator)
        known = [a["name"] for a in schema["args"]]
        for name in names.difference(known):
            if not (here := alike(name, known)):
                continue
            assert here.removeprefix("write ").split("=")[0] in known
            if schema["family"] != "source":
                asked += 1
                with pytest.raises(TypeError, match=re.escape(f"[{operator}] there is no argument '{name}': {here}")):
                    _core.operator_function(operator)(*[IMAGE] * schema["min_inputs"], **{name: 1})
    assert asked > 500


def test_pipelines_and_compose_answer_from_the_same_table():
    for name, here in OF_LOADERS.items():
        if name != "batch_size":
            with pytest.raises(TypeError, match=re.escape(f"'{name}' that Pipeline does not have: {here}")):
                penstock.pipeline_def(batch_size=1, **{name: 1})
        with pytest.raises(TypeError, match=re.escape(f"Compose has no argument '{name}': {here}")):
            A.Compose([A.HorizontalFlip()], **{name: 1})
    for name, here in (("bbox_param", ", did you mean 'bbox_params'?"), ("seed", ": penstock.seed(s)"), ("xyz", "")):
        with pytest.raises(TypeError, match=re.escape(f"Compose has no argument '{name}'{here}")):
            A.Compose([A.HorizontalFlip()], **{name: 1})
    for call, here in (
        (lambda: A.Resize(size=(3, 3)), "write height= and width="),
        (lambda: A.Resize(3, 3, resample=1), "write interpolation="),
        (lambda: A.Rotate(angle=3), "write limit="),
        (lambda: A.Compose([A.HorizontalFlip]), r"the class HorizontalFlip: call it, HorizontalFlip\(\)"),
    ):
        with pytest.raises(TypeError, match=here):
            call()


def test_urls_of_a_tar_reader_are_its_paths():
    with penstock.Pipeline(batch_size=1, num_threads=1), pytest.raises(TypeError, match=r"'urls': paths=\[...\]"):
        fn.readers.webdataset(urls="train.tar", paths=["train.tar"], ext=["jpg"])
