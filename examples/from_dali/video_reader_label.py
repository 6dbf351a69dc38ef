# SPDX-License-Identifier: Apache-2.0
"""Films with labels: by folders, by a list with seconds, by a list with frame numbers; and each frame's time."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def

root = small_data.folder()
for n, name in enumerate(("run", "walk")):
    (root / name).mkdir()
    small_data.video(root / name / "film.mp4", 20)
listed = small_data.folder() / "list.txt"
listed.write_text(f"{root}/run/film.mp4 7 0 8\n{root}/walk/film.mp4 9 4 16\n")
by_time = small_data.folder() / "list.txt"
by_time.write_text(f"{root}/walk/film.mp4 3 0.2 0.52\n")  # 25 frames a second


@pipeline_def(batch_size=2, num_threads=2, device_id=0)
def labeled(source):
    return fn.readers.video(
        device="gpu", sequence_length=4, enable_frame_num=True, enable_timestamps=True, name="video", **source
    )


def run(**source):
    pipe = labeled({"file_list_include_preceding_frame": True, **source} if "file_list" in source else source)
    pipe.build()
    seen = []
    count = pipe.reader_meta("video")["epoch_size"]
    while len(seen) < count:
        frames, label, first, times = (out.as_cpu() for out in pipe.run())
        for i in range(2):
            numbers = small_data.film_numbers(frames.at(i))
            assert numbers[0] == int(np.ravel(first.at(i))[0])
            np.testing.assert_allclose(np.ravel(times.at(i)), np.array(numbers) / 25, atol=1e-3)
            seen.append((int(np.ravel(label.at(i))[0]), numbers[0]))
    return seen[:count]


assert run(file_root=str(root)) == [(c, n) for c in (0, 1) for n in (0, 4, 8, 12, 16)]
assert run(file_list=str(listed), file_list_frame_num=True) == [(7, 0), (7, 4), (9, 4), (9, 8), (9, 12)]
assert [label for label, _ in run(file_list=str(by_time))] == [3, 3]
print("video labels: by folders, by frames and by seconds")
