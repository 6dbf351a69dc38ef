# SPDX-License-Identifier: Apache-2.0
"""Python functions as operators: of samples, of batches, of two inputs and outputs."""

import cv2
import numpy as np
import small_data
from nvidia.dali import fn, ops
from nvidia.dali.pipeline import Pipeline

pictures = [small_data.picture(n, 30 + n, 40) for n in range(3)]
shift = 7


def edges(image):
    return cv2.Canny(image, 50, 100)[..., None]


def swapped(a, b):
    return b, a


def mixed(images):
    """Each picture takes its neighbor's first row."""
    return [np.concatenate([images[k - 1][:1], image[1:]]) for k, image in enumerate(images)]


pipe = Pipeline(batch_size=3, num_threads=1, device_id=None, exec_async=False, exec_pipelined=False)
with pipe:
    images = fn.external_source(source=lambda: pictures, layout="HWC")
    lines = fn.python_function(images, function=edges, num_outputs=1)
    there, back = fn.python_function(images, lines, function=swapped, num_outputs=2)
    rows = fn.python_function(images, function=mixed, batch_processing=True)
    moved = ops.PythonFunction(function=lambda x: np.roll(x, shift, axis=1), num_outputs=1)(images)
    pipe.set_outputs(images, lines, there, back, rows, moved)
pipe.build()
images, lines, there, back, rows, moved = pipe.run()
for i, x in enumerate(pictures):
    assert (lines.at(i) == edges(x)).all() and lines.at(i).shape == x.shape[:2] + (1,)
    assert (there.at(i) == lines.at(i)).all() and (back.at(i) == x).all()
    assert (rows.at(i)[0] == pictures[i - 1][0]).all() and (rows.at(i)[1:] == x[1:]).all()
    assert (moved.at(i) == np.roll(x, shift, axis=1)).all()
print("python operator: four functions of OpenCV and NumPy")
