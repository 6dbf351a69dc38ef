# SPDX-License-Identifier: Apache-2.0
"""Sequences of frames from two films: in order, with a stride, overlapping."""

import small_data
from nvidia.dali import fn, pipeline_def, types

root = small_data.folder()
films = [str(small_data.video(root / f"{n}.mp4", frames)) for n, frames in enumerate((12, 20))]


@pipeline_def(batch_size=2, num_threads=2, device_id=0)
def sequences(stride, step):
    return fn.readers.video(
        device="gpu", filenames=films, sequence_length=4, stride=stride, step=step, dtype=types.UINT8, name="video"
    )


def run(stride=1, step=-1):
    pipe = sequences(stride, step)
    pipe.build()
    count, seen = pipe.reader_meta("video")["epoch_size"], []
    while len(seen) < count:
        out = pipe.run()[0].as_cpu()
        assert out.as_array().shape == (2, 4, 64, 96, 3)
        seen += [small_data.film_numbers(out.at(i)) for i in range(2)]
    return seen[:count]


assert run() == [list(range(n, n + 4)) for n in (0, 4, 8, 0, 4, 8, 12, 16)]
assert run(stride=3) == [[0, 3, 6, 9], [0, 3, 6, 9]]
assert run(step=2) == [list(range(n, n + 4)) for frames in (12, 20) for n in range(0, frames - 3, 2)]
print("video reader: sequences of four frames, side by side, with gaps and overlapping")
