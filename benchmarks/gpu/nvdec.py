# SPDX-License-Identifier: Apache-2.0
r"""Frames per second of several 1080p videos at once through NVDEC, as batches of RGB on the GPU.

On a machine with the ffmpeg command and PyPI, once:

    python benchmarks/gpu/nvdec.py make FOLDER [--frames 300]

writes two videos (H.264 and HEVC, 8 Mbit/s, 10 MB each), what tests/gpu/test_video_engine.py wants (FOLDER/tests), and PyAV's wheel
(40 MB), which holds FFmpeg's libraries and all that they need; the videos also as streams without a container. Carry the folder to the machine with the GPU, which needs neither
ffmpeg nor a network (its driver must have libnvcuvid.so.1):

    python benchmarks/gpu/nvdec.py run FOLDER [--streams 14] [--length 16] [--rounds 5] [--codecs h264 hevc] [--json FILE] \
        [--limit build/nvdec_limit]

One pipeline reads a sequence of each stream for each batch (interleaved lines of a file_list; the streams are links to one
video), and its frames stay on the GPU; the time is that of whole epochs after one that is not counted, and ends when the last
batch is complete. It stops where a file was decoded on the CPU. --limit is the program of benchmarks/gpu/nvdec_limit.cpp, which
decodes the same videos from memory through libnvcuvid alone before and after: the ratio to its rate is printed. With --check the first batch is compared with the CPU's frames.
The test, with the libraries that `run` has unpacked:

    PENSTOCK_TEST_GPU=real PENSTOCK_TEST_VIDEOS=FOLDER/tests PENSTOCK_FFMPEG=FOLDER/ffmpeg LD_LIBRARY_PATH=FOLDER/ffmpeg \
        python -m pytest tests/gpu/test_video_engine.py -p no:cacheprovider
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

PYAV = "av==14.2.0"
ROOT = Path(__file__).resolve().parents[2]
ENCODERS = {
    "h264": ["libx264", "-preset", "fast"],
    "hevc": ["libx265", "-preset", "fast", "-x265-params", "log-level=none"],
}


def make(folder, frames):
    folder.mkdir(parents=True, exist_ok=True)
    for codec, encoder in ENCODERS.items():
        subprocess.run(
            [
                "ffmpeg",
                "-nostdin",
                "-v",
                "error",
                "-f",
                "lavfi",
                "-i",
                "testsrc2=size=1920x1080:rate=30",
                "-vf",
                "noise=alls=8:allf=t",
                "-frames:v",
                str(frames),
                "-c:v",
                *encoder,
                "-b:v",
                "8M",
                "-g",
                "150",
                "-pix_fmt",
                "yuv420p",
                "-y",
                str(folder / f"{codec}.mp4"),
            ],
            check=True,
        )
        subprocess.run(
            [
                "ffmpeg",
                "-nostdin",
                "-v",
                "error",
                "-i",
                str(folder / f"{codec}.mp4"),
                "-c",
                "copy",
                "-y",
                str(folder / f"stream.{codec}"),
            ],
            check=True,
        )
    (folder / "tests").mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, str(ROOT / "tests" / "gpu" / "test_video_engine.py"), str(folder / "tests")], check=True
    )
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            str(folder),
            PYAV,
        ],
        check=True,
    )


def unpack_libraries(folder, to):
    """FFmpeg's, out of the wheel; `to` is what PENSTOCK_FFMPEG and LD_LIBRARY_PATH shall name."""
    for wheel in folder.glob("av-*.whl"):
        with zipfile.ZipFile(wheel) as files:
            for name in files.namelist():
                if ".libs/" in name and ".so" in name and not (to / Path(name).name).exists():
                    to.mkdir(parents=True, exist_ok=True)
                    (to / Path(name).name).write_bytes(files.read(name))


def reader(listed, streams, length, device):
    from penstock import fn, pipeline_def

    @pipeline_def(batch_size=streams, num_threads=4, prefetch_queue_depth=2, device_id=0)
    def pipeline():
        frames, label = fn.experimental.readers.video(
            file_list=str(listed), file_list_format="frames", sequence_length=length, device=device, name="reader"
        )
        return frames, label

    return pipeline()


def measure(folder, codec, streams, length, rounds, check):
    import numpy as np

    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        names = [place / f"{codec}_{k}.mp4" for k in range(streams)]
        for name in names:
            name.symlink_to((folder / f"{codec}.mp4").resolve())
        frames = int(json.loads((folder / "videos.json").read_text())["frames"])
        listed = place / "list.txt"
        begins = range(0, frames - length + 1, length)
        listed.write_text("".join(f"{name} {k} {b} {b + length}\n" for b in begins for k, name in enumerate(names)))
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*the CPU decodes .*")
            pipe = reader(listed, streams, length, "gpu")
            first = pipe.run()
            if check:
                ours, theirs = first[0].as_cpu(), reader(listed, streams, length, "cpu").run()[0]
                for k in range(streams):
                    np.testing.assert_array_equal(np.array(ours[k]), np.array(theirs[k]))
            del first
            for _ in range(len(begins) - 1):
                pipe.run()
            rates = []
            for _ in range(rounds):
                begin = time.perf_counter()
                for _ in begins:
                    frames_there = pipe.run()[0]
                np.array(frames_there.as_cpu()[0][:1, :1, :1])  # the last batch is complete
                rates.append(len(begins) * length * streams / (time.perf_counter() - begin))
        return {
            "codec": codec,
            "streams": streams,
            "sequence_length": length,
            "frames": frames,
            "fps": statistics.median(rates),
            "rounds": rates,
        }


def limit(options, codec):
    """Frames per second of libnvcuvid alone; in a process of its own."""
    if not options.limit:
        return None
    said = subprocess.run(
        [options.limit, str(options.folder / f"stream.{codec}"), str(options.streams), "1"],
        check=True,
        capture_output=True,
    )
    return float(said.stdout)


def compare(options, codec):
    before = limit(options, codec)
    result = measure(options.folder, codec, options.streams, options.length, options.rounds, options.check)
    if before:
        result["limits"] = [before, limit(options, codec)]
        result["ratio"] = result["fps"] / max(result["limits"])
    return result


def machine():
    try:
        said = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
            check=True,
            capture_output=True,
            text=True,
        )
        return said.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "not known"


def run(options):
    libraries = (options.folder / "ffmpeg").resolve()
    unpack_libraries(options.folder, libraries)
    if libraries.is_dir() and os.environ.get("PENSTOCK_FFMPEG") != str(libraries):
        # The libraries find each other beside them; FFmpeg's own names for that come before the process begins.
        paths = [str(libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        os.execve(
            sys.executable,
            [sys.executable, *sys.argv],
            {**os.environ, "PENSTOCK_FFMPEG": str(libraries), "LD_LIBRARY_PATH": os.pathsep.join(paths)},
        )
    from penstock import _core

    if _core.gpu_why_not():
        sys.exit(f"no GPU: {_core.gpu_why_not()}")
    results = [compare(options, codec) for codec in options.codecs]
    for r in results:
        print(
            f"{r['codec']}: {r['streams']} streams, {r['fps']:.0f} frames/s (median of {len(r['rounds'])} epochs: "
            f"{', '.join(f'{x:.0f}' for x in r['rounds'])})"
            + (
                f", {r['ratio']:.2f} of libnvcuvid alone ({', '.join(f'{x:.0f}' for x in r['limits'])})"
                if "ratio" in r
                else ""
            )
        )
    if options.json:
        Path(options.json).write_text(
            json.dumps(
                {
                    "command": sys.argv,
                    "gpu and driver": machine(),
                    "date": time.strftime("%Y-%m-%d", time.gmtime()),
                    "commit": options.commit,
                    "results": results,
                },
                indent=1,
            )
            + "\n"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--streams", type=int, default=14)
    parser.add_argument("--length", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--codecs", nargs="+", choices=list(ENCODERS), default=list(ENCODERS))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--limit")
    parser.add_argument("--commit", help="what was built, for the result")
    options = parser.parse_args()
    if options.what == "make":
        make(options.folder, options.frames)
        (options.folder / "videos.json").write_text(json.dumps({"frames": options.frames}) + "\n")
    else:
        run(options)


if __name__ == "__main__":
    main()
