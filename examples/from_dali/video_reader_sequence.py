# SPDX-License-Identifier: Apache-2.0
"""Sequences that are resized as they are read, cropped, reordered, and sequences from folders of pictures."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

root = small_data.folder()
film = str(small_data.video(root / "film.mp4", 12))
pictures = small_data.folder()
for name in ("a", "b"):
    (pictures / name).mkdir()
    for n in range(6):
        (pictures / name / f"{n:03}.png").write_bytes(
            small_data.encoded(np.full((32, 40, 3), 10 + 10 * n, np.uint8), ".png")
        )


@pipeline_def(batch_size=2, num_threads=2, device_id=0)
def resized():
    video = fn.readers.video_resize(device="gpu", filenames=[film], sequence_length=6, resize_x=48, resize_y=32)
    reversed_order = fn.sequence_rearrange(video, new_order=[5, 4, 3, 2, 1, 0])
    planes = fn.crop_mirror_normalize(
        video, crop=(24, 24), dtype=types.FLOAT, mean=[0.0], std=[255.0], output_layout="FCHW"
    )
    return video, reversed_order, planes, fn.element_extract(video, element_map=[2])


@pipeline_def(batch_size=2, num_threads=2, device_id=None)
def from_pictures():
    return fn.readers.sequence(file_root=str(pictures), sequence_length=3, step=3)


pipe = resized()
pipe.build()
video, backwards, planes, third = (out.as_cpu().as_array() for out in pipe.run())
assert video.shape == (2, 6, 32, 48, 3) and planes.shape == (2, 6, 3, 24, 24) and third.shape == (2, 32, 48, 3)
for i in range(2):
    numbers = list(range(6 * i, 6 * i + 6))
    assert small_data.film_numbers(video[i]) == numbers and small_data.film_numbers(backwards[i]) == numbers[::-1]
    assert small_data.film_numbers(planes[i] * 255) == numbers and small_data.film_numbers(third[i : i + 1]) == [
        6 * i + 2
    ]

pipe = from_pictures()
pipe.build()
seen = []
for _ in range(2):
    out = pipe.run()[0].as_cpu()
    seen += [small_data.film_numbers(out.at(i)) for i in range(2)]
assert seen == [[0, 1, 2], [3, 4, 5]] * 2
print("video sequences: resized, reversed, cropped, and from folders of pictures")
