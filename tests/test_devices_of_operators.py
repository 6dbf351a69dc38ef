# SPDX-License-Identifier: Apache-2.0
"""Every operator runs on a GPU, or its page says why not."""

import pathlib

import pytest

from penstock import _core

SCHEMAS = {name: _core.operator_schema(name) for name in _core.operators(True)}
COMPUTING = [name for name, schema in SCHEMAS.items() if schema["family"] != "source"]


@pytest.mark.parametrize("name", COMPUTING)
def test_it_has_a_form_for_a_gpu_or_a_reason(name):
    schema = SCHEMAS[name]
    assert schema["both_devices"] != bool(schema["host_only"]), (
        "an operator has steps for both devices (WholeOperator::work), or its schema says .host_only(why)"
    )


@pytest.mark.parametrize("name", [name for name in COMPUTING if SCHEMAS[name]["host_only"]])
def test_the_reason_is_on_its_page(name):
    page = pathlib.Path(__file__).parents[1] / "docs" / "reference" / "operators"
    texts = [p.read_text() for p in page.parent.rglob("*.md")]
    words = f"Runs on the CPU alone: {SCHEMAS[name]['host_only']}.".split()
    assert any(" ".join(words) in " ".join(text.split()) for text in texts)


def test_few_run_on_the_cpu_alone():
    alone = {name for name in COMPUTING if SCHEMAS[name]["host_only"]}
    assert alone == {
        "audio_codec",
        "decoders.audio",
        "decoders.numpy",
        "dump_image",
        "encoders.jpeg",
        "encoders.png",
        "encoders.webp",
        "find_contours",
        "hough_circles",
        "hough_lines",
        "hough_lines_p",
        "io.file.read",
        "peek_image_shape",
        "peek_video",
    }
