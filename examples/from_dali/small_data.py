# SPDX-License-Identifier: Apache-2.0
"""Small pictures, sounds and videos for the programs beside this file. The folders are removed when the process ends."""

import atexit
import shutil
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import cv2
import numpy as np

sys.path.append(
    str(Path(__file__).resolve().parents[2] / "tests")
)  # container_files: one writer of TFRecord, RecordIO and tar


def folder():
    made = Path(tempfile.mkdtemp(prefix="from_dali"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def picture(number, height=48, width=64):
    """(height, width, 3): slow waves, so that JPEG changes little; each number another picture."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / (9.0 + c) + number) * np.cos(y / (11.0 - c) - number * c) for c in range(3)]
    return np.stack([128 + 100 * w for w in waves], axis=2).astype(np.uint8)


def encoded(pixels, ending=".jpg"):
    """The bytes of a file of RGB pixels."""
    return cv2.imencode(ending, np.ascontiguousarray(pixels[..., ::-1]))[1].tobytes()


def picture_folder(classes=("cat", "dog"), each=4, ending=".jpg"):
    """A folder of folders; picture number n of all has 48 + n rows and 64 + 2 n columns."""
    made = folder()
    for c, name in enumerate(classes):
        (made / name).mkdir()
        for i in range(each):
            n = c * each + i
            (made / name / f"{i}{ending}").write_bytes(encoded(picture(n, 48 + n, 64 + 2 * n), ending))
    return made


def coco(count=6):
    """(pictures' folder, annotations' file): picture n has n % 3 + 1 boxes of class n % 2 + 1, with a mask around each box."""
    import json

    made = folder()
    images, annotations = [], []
    for n in range(count):
        (made / f"{n}.jpg").write_bytes(encoded(picture(n)))
        images.append({"id": n, "file_name": f"{n}.jpg", "height": 48, "width": 64})
        for k in range(n % 3 + 1):
            x, y, w, h = 4 + 8 * k, 6 + 4 * k, 20 + 4 * n, 16 + k
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": n,
                    "category_id": n % 2 + 1,
                    "bbox": [x, y, w, h],
                    "area": w * h,
                    "iscrowd": 0,
                    "segmentation": [[x, y, x + w, y, x + w, y + h, x, y + h]],
                }
            )
    file = made / "annotations.json"
    file.write_text(
        json.dumps(
            {
                "images": images,
                "annotations": annotations,
                "categories": [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}],
            }
        )
    )
    return made, file


def tone(path, hertz=440, seconds=0.5, rate=16000):
    """Writes a sine as 16-bit WAV and returns its samples."""
    samples = (12000 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype(np.int16)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return samples


def video(path, frames=20, height=64, width=96):
    """A film whose frame n is gray of the value 10 + 10 n."""
    values = (10 + 10 * np.arange(frames)).astype(np.uint8)
    raw = np.broadcast_to(values[:, None, None, None], (frames, height, width, 3)).tobytes()
    subprocess.run(
        [
            "ffmpeg",
            "-y",
            "-v",
            "error",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            f"{width}x{height}",
            "-r",
            "25",
            "-i",
            "-",
            "-c:v",
            "libx264",
            "-g",
            "5",
            "-pix_fmt",
            "yuv420p",
            str(path),
        ],
        input=raw,
        check=True,
    )
    return path


def film_numbers(frames):
    """The numbers of frames of `video`, by their brightness."""
    means = np.asarray(frames).reshape(len(frames), -1).mean(axis=1)
    return np.round((means - 10) / 10).astype(int).tolist()
