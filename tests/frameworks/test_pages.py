# SPDX-License-Identifier: Apache-2.0
"""The programs of the how-to pages run as they are printed, and docstrings keep their form and run."""

import inspect
import re
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples" / "frameworks")]
from test_docstrings import docstrings, run_example  # noqa: E402
from textures import write_folder  # noqa: E402


def run_page(name, names, monkeypatch, tmp_path, section=""):
    monkeypatch.chdir(tmp_path)
    write_folder("photos", 20)
    text = (ROOT / "docs" / "how_to" / name).read_text()
    if section:
        text = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        source = tmp_path / "block.py"  # TensorFlow and Penstock read the source of functions
        source.write_text(block)
        exec(compile(block, str(source), "exec"), names)


def test_the_page_of_tensorflow(monkeypatch, tmp_path):
    import tensorflow as tf

    layers = [tf.keras.layers.Input((32, 32, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)]
    model = tf.keras.Sequential(layers)
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    run_page("train_with_tensorflow.md", {"model": model}, monkeypatch, tmp_path)


def test_the_page_of_jax(monkeypatch, tmp_path):
    import jax

    step = jax.jit(lambda state, batch: ({"w": state["w"] + batch["images"].mean()}, batch["labels"].sum()))
    names = {"step": step, "state": {"w": jax.numpy.zeros(())}, "folder": tmp_path / "checkpoints"}
    run_page("train_with_jax.md", names, monkeypatch, tmp_path)


def test_grain_on_the_page_beside_other_loaders(monkeypatch, tmp_path):
    import numpy as np

    from penstock import fn, pipeline_def

    names = {"np": np, "fn": fn, "pipeline_def": pipeline_def, "Path": Path}
    run_page("use_with_other_loaders.md", names, monkeypatch, tmp_path, section="Grain")
    assert names["shapes"] == [(8, 64, 64, 3), (8, 64, 64, 3), (4, 64, 64, 3)]
    again = iter(names["pictures"])
    first, state = next(again), again.get_state()
    second = next(again)
    assert not np.array_equal(first, second)
    again.set_state(state)
    np.testing.assert_array_equal(next(again), second)


def public():
    from penstock.plugin import grain, jax, tf
    from penstock.plugin.jax import checkpoints, clu

    tf_names = ["DALIIterator", "DALIIteratorWrapper", "Input", "PenstockDataset", "load"]
    found = [getattr(tf, name) for name in tf_names]
    found += [getattr(module, name) for module in (jax, checkpoints, clu, grain) for name in module.__all__]
    for item in dict.fromkeys(found):
        if item.__module__.startswith(("penstock.plugin.tf", "penstock.plugin.jax", "penstock.plugin.grain")):
            yield item.__name__, item
            if inspect.isclass(item):
                own = {k: v for k, v in vars(item).items() if not k.startswith("_") and inspect.isfunction(v)}
                yield from ((f"{item.__name__}.{name}", method) for name, method in own.items())


@pytest.mark.parametrize("name, item", list(public()))
def test_docstrings(name, item):
    made = item if not inspect.isclass(item) else item.__init__ if "__init__" in vars(item) else None
    names = docstrings.parameters(made) if made else None
    assert docstrings.faults(inspect.getdoc(item), names) == []
    import tensorflow as tf

    run_example(name, inspect.getdoc(item), tf=tf)


def run_twice(program, arguments, monkeypatch, capsys):
    """An example, and once more from its own checkpoint."""
    monkeypatch.setattr(sys, "argv", [program.__name__, *map(str, arguments)])
    program.main()
    assert "goes on" not in capsys.readouterr().out
    program.main()
    return capsys.readouterr().out


def test_the_example_of_keras_goes_on_from_its_checkpoint(monkeypatch, capsys, tmp_path):
    import resnet50_tensorflow as example
    import tensorflow as tf

    def small(classes, size):
        layers = [tf.keras.layers.Input((size, size, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(classes)]
        model = tf.keras.Sequential([*layers, tf.keras.layers.Softmax()])
        model.compile("adam", "sparse_categorical_crossentropy")
        return model

    monkeypatch.setattr(example, "make_model", small)
    write_folder(tmp_path / "photos", 20)
    arguments = [tmp_path / "photos", "--steps", 2, "--batch", 4, "--size", 16, "--checkpoint", tmp_path / "c"]
    assert f"goes on from {tmp_path}/c/ckpt-1" in run_twice(example, arguments, monkeypatch, capsys)


def test_the_example_of_flax_goes_on_from_its_checkpoint(monkeypatch, capsys, tmp_path):
    import flax.linen as nn
    import resnet50_jax as example

    class Small(nn.Module):
        classes: int

        @nn.compact
        def __call__(self, x):
            return nn.Dense(self.classes)(nn.BatchNorm(use_running_average=False)(x).mean((1, 2)))

    monkeypatch.setattr(example, "ResNet50", Small)
    write_folder(tmp_path / "photos", 20)
    arguments = [tmp_path / "photos", "--steps", 2, "--batch", 4, "--size", 16, "--checkpoint", tmp_path / "c"]
    assert "goes on after step 2" in run_twice(example, arguments, monkeypatch, capsys)
