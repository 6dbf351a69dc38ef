# SPDX-License-Identifier: Apache-2.0
"""Pipelines whose outputs are dictionaries, lists and nested tuples."""

import collections

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def

Pair = collections.namedtuple("Pair", "left right")


def values(outputs):
    """The same containers, with a list of numbers for each batch."""
    if isinstance(outputs, dict):
        return {k: values(v) for k, v in outputs.items()}
    if hasattr(outputs, "_fields"):
        return type(outputs)(*map(values, outputs))
    if isinstance(outputs, (list, tuple)):
        return type(outputs)(map(values, outputs))
    return [t.numpy().item() for t in outputs]


def source():
    for k in range(3):
        yield [np.float32(k), np.float32(k + 10)]


FORMS = {
    "dictionary": (lambda x: {"image": x, "twice": x * 2}, {"image": [0, 10], "twice": [0, 20]}),
    "nested": (lambda x: ({"a": [x, (x + 1, x + 2)]}, x), ({"a": [[0, 10], ([1, 11], [2, 12])]}, [0, 10])),
    "list of lists": (lambda x: [[x], [x + 1]], [[[0, 10]], [[1, 11]]]),
    "list": (lambda x: [x, {"b": x}], [[0, 10], {"b": [0, 10]}]),
    "named tuple": (lambda x: Pair(x, Pair(x + 1, x)), Pair([0, 10], Pair([1, 11], [0, 10]))),
    "flat named tuple": (lambda x: Pair(x, x + 1), Pair([0, 10], [1, 11])),
    "constants inside": (lambda x: {"x": x, "seven": 7}, {"x": [0, 10], "seven": [7, 7]}),
    "flat": (lambda x: [x, x + 1], ([0, 10], [1, 11])),
}


@pytest.mark.parametrize("form, want", FORMS.values(), ids=FORMS)
def test_run_gives_the_form_that_was_returned(form, want):
    @pipeline_def(batch_size=2)
    def pipe():
        return form(fn.external_source(source))

    p = pipe()
    assert values(p.run()) == want
    p.schedule_run()
    assert type(p.outputs()) is type(want)


def test_set_outputs_takes_each_output_by_itself():
    p = Pipeline(2)
    with p:
        x = fn.external_source(source)
        p.set_outputs(x, {"b": x + 1})
    assert values(p.run()) == ([0, 10], {"b": [1, 11]})


def test_outputs_are_counted_and_saved_in_their_order():
    @pipeline_def(batch_size=2)
    def pipe():
        x = fn.external_source(source)
        return {"a": x, "b": [x + 1, x + 2]}

    p = pipe()
    assert p.num_outputs == 3
    assert values(p._run()) == ([0, 10], [1, 11], [2, 12])


def test_the_loader_of_torch_keeps_the_form():
    torch = pytest.importorskip("torch")

    @pipeline_def(batch_size=2)
    def pipe():
        x = fn.external_source(source)
        return {"a": x, "b": (x + 1,)}

    for k, batch in enumerate(penstock.torch.DataLoader(pipe())):
        assert torch.equal(batch["a"], torch.tensor([k, k + 10.0])) and torch.equal(batch["b"][0], batch["a"] + 1)
    for batch in penstock.torch.DataLoader(pipe(), ["x", "y"]):
        assert set(batch) == {"x", "y"}


def test_values_of_other_pipelines_are_named_by_their_place():
    other = Pipeline(2)
    with other:
        foreign = fn.external_source(source)

    @pipeline_def(batch_size=2)
    def pipe():
        return {"a": [fn.external_source(source), foreign]}

    with pytest.raises(ValueError, match=r"output 0\['a'\]\[1\] belongs to another pipeline"):
        pipe()
    with pytest.raises(TypeError, match="output 0 of the pipeline is of type str"):
        pipeline_def(batch_size=2)(lambda: "text")()
