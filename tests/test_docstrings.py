# SPDX-License-Identifier: Apache-2.0
"""Every public name has a docstring in one form, whose parameters exist and whose example runs."""

import ast
import functools
import doctest
import importlib
import inspect
import textwrap
import warnings
from pathlib import Path

import docstrings
import numpy as np
import pytest

import penstock
from penstock import _core, fn, pipeline_def, types

PACKAGE = Path(penstock.__file__).parent
OPERATORS = _core.operators()


def operator(name):
    function = fn
    for part in name.split("."):
        function = getattr(function, part)
    return function


def run_example(name, text, **more):
    """Runs the lines that begin with >>>."""
    names = {
        "np": np,
        "penstock": penstock,
        "fn": fn,
        "types": types,
        "pipeline_def": pipeline_def,
        "Pipeline": penstock.Pipeline,
        **more,
    }
    test = doctest.DocTestParser().get_doctest(
        "\n".join(docstrings.parts(text)[1].get("Example", ())), names, name, None, None
    )
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", OPERATORS)
def test_docstrings_of_operators(name):
    function = operator(name)
    assert docstrings.faults(function.__doc__, docstrings.parameters(function)) == []
    sections = docstrings.parts(function.__doc__)[1]
    assert list(sections) == list(docstrings.SECTIONS)
    run_example(name, function.__doc__)


PUBLIC = [
    "penstock",
    "penstock.albumentations",
    "penstock.annotations",
    "penstock.augment",
    "penstock._commands",
    "penstock.control",
    "penstock.conversion",
    "penstock._graph",
    "penstock.loaders",
    "penstock.math",
    "penstock._operators.batches",
    "penstock._operators.dataset",
    "penstock._operators.packing",
    "penstock.pictures",
    "penstock._pipeline",
    "penstock._pipeline.statistics",
    "penstock.plugin.base_iterator",
    "penstock.plugin.interface",
    "penstock.plugin.jax",
    "penstock.plugin.numpy",
    "penstock.plugin.pytorch",
    "penstock.plugin.pytorch.proxy",
    "penstock.plugin.ray",
    "penstock.plugin.torch_function",
    "penstock.plugin.transformers",
    "penstock._python_function",
    "penstock.service",
    "penstock._sources",
    "penstock.storage",
    "penstock._tensors",
    "penstock.tfrecord",
    "penstock.torch",
    "penstock.types",
    "penstock._workers.pool",
]
ALONE = {  # the public names of modules that have others for the package itself
    "penstock._operators.dataset": ["DatasetError", "dataset"],
    "penstock._operators.packing": ["packed"],
    "penstock._graph": ["DataNode"],
    "penstock._pipeline": ["Driver", "OutputInfo", "Pipeline", "Step", "pipeline_def"],
    "penstock.plugin.interface": [
        "Function",
        "add_call",
        "add_function",
        "alike",
        "check_function",
        "is_converted",
        "put_together",
        "required",
        "user_line",
    ],
    "penstock.plugin.base_iterator": ["BaseIterator", "LastBatchPolicy"],
    "penstock.plugin.jax": ["DALIGenericIterator", "data_iterator", "jax_function"],
    "penstock.plugin.torch_function": ["torch_python_function"],
    "penstock._python_function": ["FunctionError", "dl_tensor_python_function"],
    "penstock._sources": ["external_source"],
    "penstock._workers.pool": ["WorkerError"],
}
INHERITED = {
    "multiprocessing_context",
    "name",
    "value",
    "from_bytes",
    "to_bytes",
    "as_integer_ratio",
    "bit_count",
    "bit_length",
    "conjugate",
    "denominator",
    "imag",
    "is_integer",
    "numerator",
    "real",
}


def public():
    """(name, object, names of its parameters or None) of each class, function, method and property."""
    for module in map(importlib.import_module, PUBLIC):
        names = (
            ALONE.get(module.__name__)
            or getattr(module, "__all__", None)
            or [
                n
                for n, v in vars(module).items()
                if not n.startswith("_") and getattr(v, "__module__", "") == module.__name__
            ]
        )
        for name in names:
            found = getattr(module, name)
            if inspect.isclass(found):
                own = "__init__" in vars(found) and found.__module__.startswith("penstock.")
                yield f"{module.__name__}.{name}", found, docstrings.parameters(found.__init__) if own else None
                for member, value in (
                    inspect.getmembers_static(found) if hasattr(inspect, "getmembers_static") else vars(found).items()
                ):
                    value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                    if member.startswith("_") or member in INHERITED or found in (penstock.Tensor, penstock.Batch):
                        continue
                    if isinstance(value, property):
                        yield f"{module.__name__}.{name}.{member}", value, []
                    elif inspect.isfunction(value) and value.__module__.startswith("penstock"):
                        yield f"{module.__name__}.{name}.{member}", value, docstrings.parameters(value)
            elif callable(found):
                yield f"{module.__name__}.{name}", found, docstrings.parameters(found)


def test_docstrings_of_the_package():
    wrong, seen, examples = {}, 0, 0
    for name, found, names in public():
        seen += 1
        if faults := docstrings.faults(found.__doc__, names):
            wrong[name] = faults
        elif "Example:" in found.__doc__:
            examples += 1
            run_example(name, found.__doc__, DataLoader=None)
    assert not wrong, "\n".join(f"{n}: {f}" for n, f in wrong.items())
    assert seen > 250 and examples > 60


def keywords_of(source):
    """(name, keywords) of each call of fn.name in a program."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("fn."):
            yield ast.unparse(node.func)[3:], [k.arg for k in node.keywords if k.arg]


@pytest.mark.parametrize("name", OPERATORS)
def test_examples_that_are_not_run_use_arguments_that_exist(name):
    example = "\n".join(docstrings.parts(operator(name).__doc__)[1]["Example"])
    if ">>>" in example:
        return
    calls = list(keywords_of(example))
    assert name in [called for called, _ in calls]
    for called, keywords in calls:
        assert set(keywords) <= set(docstrings.parameters(operator(called))), called


@functools.cache
def body_of(stub):
    return ast.parse(stub.read_text()).body


def test_stubs_say_what_help_says():
    """The same docstring and the same parameters."""
    for name in OPERATORS:
        group, _, last = name.rpartition(".")
        place = PACKAGE / "fn" / group.replace(".", "/")
        stub = place / "__init__.pyi" if (place / "__init__.pyi").exists() else place.with_suffix(".pyi")
        body = body_of(stub)
        if any(isinstance(i, ast.ImportFrom) and last in [a.asname for a in i.names] for i in body):
            continue  # a function of Python with annotations of its own
        found = [f for f in body if isinstance(f, ast.FunctionDef) and f.name == last]
        assert found, f"{name} is missing in {stub}: run tools/generate.py"
        assert [inspect.cleandoc(operator(name).__doc__)] == [
            ast.get_docstring(f) for f in found if ast.get_docstring(f)
        ], name
        for f in found:
            given = [a.arg for a in [*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs]]
            given += ["*" + f.args.vararg.arg] if f.args.vararg else []
            given = [n for n in given if not n.endswith("_input")]  # arguments that may also come by position
            real = docstrings.parameters(operator(name))
            if f is found[-1] and not any(n.startswith("**") for n in real):  # the last form of several takes all
                assert sorted(real) == sorted(given), name


@pytest.mark.parametrize(
    "text, names, fault",
    [
        ("", [], "no docstring"),
        ("Does it", [], "first line"),
        ("Does it. And more.", [], "first line"),
        ("D" + "o" * 100 + ".", [], "first line"),
        ("Does it.\n\nArgs:\n    a: One.\n    b: Two.", ["a"], "['b'] that do not exist"),
        ("Does it.\n\nArgs:\n    a: One.", ["a", "b"], "lacks ['b']"),
        ("Does it.\n\nArguments:\n    a: One.", ["a"], "sections ['Arguments']"),
        ("Does it.\n\nReturns:\n    A.\n\nArgs:\n    a: One.", ["a"], "order"),
        ("Does it.\n\nExample:\n    f(", [], "does not compile"),
        ("Does it.\n\nArgs:\n    a (int): One.\n        More: of it.\n\nExample:\n    f(a)", ["a"], ""),
    ],
)
def test_what_the_form_refuses(text, names, fault):
    found = " ".join(docstrings.faults(text, names))
    assert fault in found if fault else not found


def test_an_example_with_a_wrong_result_fails():
    with pytest.raises(AssertionError, match="Got:"):
        run_example(
            "wrong",
            textwrap.dedent("""Adds.

        Example:
            >>> 1 + 1
            3
        """),
        )
