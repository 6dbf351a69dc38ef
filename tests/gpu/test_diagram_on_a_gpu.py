# SPDX-License-Identifier: Apache-2.0
"""The picture of a pipeline shows what runs on a GPU, as which kernels, and the copies."""

import re

from penstock import fn, pipeline_def


@pipeline_def(batch_size=2, num_threads=1)
def moved():
    image = fn.external_source(name="images", layout="HWC").gpu()
    image = fn.brightness(image, brightness=fn.random.uniform(range=[0.5, 1.5]))
    image = fn.contrast(image, contrast=1.2)
    return image, image.cpu()


def test_kernels_and_copies_are_seen():
    svg = moved().show_graph().svg
    found = re.findall(r">([^<>]+)</text>", svg)
    assert "one kernel: 2 operators on the GPU" in found
    assert [t for t in found if t.startswith("copy to")] == ["copy to the GPU", "copy to the CPU"]
    assert {"on the CPU", "on the GPU", "copy between them"} <= set(found)
    assert svg.count("marker-end") == 7  # five lines between boxes, one inside the kernel's
