# SPDX-License-Identifier: Apache-2.0
"""The picture of a pipeline: everything that runs is in it, boxes do not overlap, lines lead down."""

import random
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import penstock
from penstock import augment, fn, pipeline_def
from penstock.pictures.layers import WIDEST, Box, arrange

SVG = "{http://www.w3.org/2000/svg}"


@pipeline_def(batch_size=4, num_threads=1)
def augmented(name="images"):
    image = fn.external_source(name=name, layout="HWC")
    image = fn.random_resized_crop(image, size=[20, 22])
    image = augment.maybe(image, lambda x: fn.brightness(x, brightness=fn.random.uniform(range=[0.5, 1.5])), p=0.25)
    trip = fn.random.coin_flip()
    while trip < 3:
        image = fn.gaussian_blur(image, window_size=3)
        trip = trip + 1
    image = fn.brightness(image, brightness=1.5)
    image = fn.contrast(image, contrast=0.5)
    return fn.cast(image, dtype=9), trip


def texts(svg):
    root = ElementTree.fromstring(svg)
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def operators_of(plan):
    """Names of operators in the text of a plan."""
    return [op for line in plan.splitlines() for op in re.findall(r"%\d+ ([a-z][\w.]*)", line) if op != "of"]


def test_all_that_runs_is_in_the_picture():
    pipe = augmented()
    found = texts(pipe.show_graph().svg)
    for op in operators_of(pipe.plan()):
        assert op in found, op
    assert any("one pass: 3 operators" in text for text in found)
    assert {"then", "else", "unchanged", "test", "body", "while ↻", "if random.coin_flip"} <= set(found)
    assert {"< 3", "+ 1", "output 0", "output 1", "float32 HWC", "int32 0-d"} <= set(found)
    assert any("probability=0.25" in text for text in found) and any("dtype=FLOAT" in text for text in found)
    assert any("brightness=random.uniform" in text for text in found)


def test_notebooks_and_files_get_the_picture(tmp_path):
    pipe = augmented()
    made = pipe.show_graph(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == made.svg == made._repr_svg_()
    html = pipe._repr_html_()
    assert made.svg in html and "random_resized_crop(%0)" in html and "&gt;" not in made.svg
    assert "bytes of SVG" in repr(made)
    with pytest.raises(TypeError, match="debug=True"):
        augmented(debug=True).show_graph()
    assert augmented(debug=True)._repr_html_().startswith("<pre>")


def test_texts_of_a_program_are_escaped():
    @pipeline_def(batch_size=1, num_threads=1)
    def read():
        return fn.readers.file(files=["<b>&'\".txt"], name="reader")[0]

    assert any("<b>&" in text for text in texts(read().show_graph().svg))


def test_deep_conditions_are_listed_by_name():
    @pipeline_def(batch_size=1, num_threads=1)
    def policy():
        return augment.rand_augment(fn.external_source(name="images", layout="HWC", dtype=0))

    svg = policy().show_graph().svg
    width = float(ElementTree.fromstring(svg).get("width"))
    assert width < 3 * WIDEST
    words = " ".join(texts(svg)).split()
    assert {"posterize", "solarize", "autocontrast", "equalize"} <= set(words) and "constant" not in words


def test_values_that_nothing_but_constants_makes():
    @pipeline_def(batch_size=1, num_threads=1)
    def constant():
        turned = fn.rotate(np.zeros((4, 4, 3), np.uint8), angle=np.float32(3.5), fill_value=0)
        one = fn.constant(fdata=0.5, shape=[2, 3]) if hasattr(fn, "constant") else fn.full(0.5, shape=[2, 3])
        return turned, fn.cast(one, dtype=3), fn.reductions.sum(penstock.types.Constant(2.5, shape=[2, 3]))

    found = texts(constant().show_graph().svg)
    assert "rotate" in found and any("2.5" in text for text in found)


@pytest.mark.parametrize("seed", range(30))
def test_boxes_do_not_overlap_and_lines_lead_down(seed):
    draw = random.Random(seed)
    boxes = []
    for k in range(draw.choice([0, 1, 2, 7, 40])):
        some = draw.sample(boxes, min(len(boxes), draw.choice([0, 1, 1, 2, 5])))
        boxes.append(Box(draw.uniform(10, 400), draw.uniform(10, 90), some))
    width, height, lines = arrange(boxes)
    for k, a in enumerate(boxes):
        assert -1e-6 <= a.x and a.x + a.width <= width + 1e-6 and a.y >= 0 and a.y + a.height <= height + 1e-6
        assert all(p.y + p.height < a.y for p in a.parents)
        for b in boxes[:k]:
            apart_x = a.x + a.width <= b.x + 1e-6 or b.x + b.width <= a.x + 1e-6
            assert apart_x or a.y + a.height <= b.y or b.y + b.height <= a.y
    assert len(lines) == sum(len(box.parents) for box in boxes)
    for line in lines:
        assert all(v0 <= v1 for (_, v0), (_, v1) in zip(line, line[1:]))
    layers = {}
    for box in boxes:
        layers.setdefault(box.layer, []).append(box.width)
    assert all(len(widths) == 1 or sum(widths) <= WIDEST for widths in layers.values())
