# SPDX-License-Identifier: Apache-2.0
"""Videos by the GPU's engine: the CPU's frames, bit for bit, its errors, and what is called for them.

The emulated GPU has a stand-in for libnvcuvid (tests/emulated_gpu/nvcuvid) that checks the order of calls. On a real one the
same frames are required of NVDEC. Videos are made by the ffmpeg command, or come from PENSTOCK_TEST_VIDEOS: what
`python tests/gpu/test_video_engine.py FOLDER` has written where there is one.
"""

import os
import subprocess
import sys
import warnings
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import video_files  # noqa: E402

SIZE, COUNT = (192, 160), 40  # engines take no smaller ones of some codecs
X265 = "log-level=none:pools=1"
MORE = {
    "hevc_10bit": ("mkv", "libx265", ["-g", 12, "-pix_fmt", "yuv420p10le", "-x265-params", X265]),
    "vp9_10bit": (
        "webm",
        "libvpx-vp9",
        ["-g", 12, "-pix_fmt", "yuv420p10le", "-b:v", "300k", "-deadline", "realtime", "-cpu-used", 8],
    ),
    "hevc_10bit_bt2020": (
        "mp4",
        "libx265",
        ["-g", 12, "-pix_fmt", "yuv420p10le", "-colorspace", "bt2020nc", "-x265-params", X265],
    ),
}
ENGINE = [
    "h264",
    "h264_open_gop",
    "h264_open_gop_mp4",
    "h264_no_b",
    "h264_b_avi",
    "h264_bt709",
    "h264_full_range",
    "h264_ts",
    "h264_vfr",
    "h264_interlaced",
    "h264_refresh",
    "hevc",
    "hevc_open_gop",
    "vp8",
    "vp9",
    "vp9_mp4",
    "vp9_vfr",
    "av1",
    *MORE,
]
ODD = [("h264", (192, 158)), ("vp9", (191, 160)), ("vp9", (192, 159)), ("vp8", (191, 159))]
HARD = {"h264_open_gop", "h264_open_gop_mp4", "h264_refresh"}  # begin with frames that the engine may give to the CPU
HOST = ["h264_444", "h264_10bit", "mpeg4", "mjpeg"]
CARRIED = os.environ.get("PENSTOCK_TEST_VIDEOS")
FOLDER = TemporaryDirectory()


def write(folder, kind, size=SIZE):
    ending, codec, arguments = {**video_files.KINDS, **MORE}[kind]
    path = Path(folder) / f"{kind}_{size[0]}x{size[1]}.{ending}"
    if "-pix_fmt" not in arguments:  # else of RGB
        arguments = [*arguments, "-pix_fmt", "yuv420p"]
    return video_files.encode(path, codec, *arguments, count=COUNT, size=size)


@lru_cache(maxsize=None)
def video(kind, size=SIZE):
    """Path, bytes, and the frames as FFmpeg's command decodes them; where there is none, as the CPU does, which other tests compare."""
    if not CARRIED:
        path = write(FOLDER.name, kind, size)
        return path, np.fromfile(path, np.uint8), video_files.decode(path)
    for path in Path(CARRIED).glob(f"{kind}_{size[0]}x{size[1]}.*"):
        data = np.fromfile(path, np.uint8)
        return path, data, np.asarray(fn.decoders.video([data])[0])
    return pytest.skip(f"machine: no {kind} of {size} was carried")


def changing_size(folder):
    """A stream whose second half has smaller pictures."""
    parts = []
    for size in [SIZE, (96, 64)]:
        path = Path(folder) / f"{size[0]}.h264"
        video_files.encode(path, "libx264", "-g", 12, "-bf", 0, "-pix_fmt", "yuv420p", count=12, size=size)
        parts.append(path.read_bytes())
        path.unlink()
    (Path(folder) / "changing_size.h264").write_bytes(b"".join(parts))


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    changing_size(sys.argv[1])
    for wanted in ENGINE + HOST:
        write(Path(sys.argv[1]), wanted)
    for kind, wanted in ODD:
        write(Path(sys.argv[1]), kind, wanted)
    sys.exit()

from penstock import _core, fn, pipeline_def, types  # noqa: E402

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)
REAL = os.environ.get("PENSTOCK_TEST_GPU") == "real"
STAND_IN = Path(os.environ["PENSTOCK_NVIDIA_LIBS"].split(os.pathsep)[0]) / "libnvcuvid.so.1" if not REAL else None
pytestmark = [
    pytest.mark.skipif(
        not CARRIED and video_files.needs_ffmpeg.args[0], reason="videos are made by the ffmpeg command"
    ),
    pytest.mark.skipif(not REAL and not STAND_IN.exists(), reason="machine: built without nv-codec-headers"),
]


class Calls:
    """The calls of libnvcuvid since the test began; on a real GPU they are not known."""

    def __init__(self):
        self.log = Path(os.environ["PENSTOCK_EMULATED_LOG"]) if not REAL else None
        if self.log:
            os.truncate(self.log, 0)

    def lines(self):
        return (
            [line[7:] for line in self.log.read_text().splitlines() if line.startswith("nvdec: ")] if self.log else []
        )

    def count(self, call):
        return sum(line.split()[0] == call for line in self.lines())

    def check(self, decoded=True):
        if self.log:
            assert not [line for line in self.lines() if line.startswith("breach")]
            assert (self.count("decode") > 0) == decoded, self.lines()


@pytest.fixture
def calls():
    return Calls()


@pytest.fixture
def by_the_engine():
    """Fails if the engine gives up frames: the CPU then decodes them, so they would still be right."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*the CPU decodes some frames of a video again.*")
        yield


def on_host(batch):
    return [np.array(sample) for sample in batch.as_cpu()]


def decoded(encoded, device="mixed", **arguments):
    """By a pipeline, for a batch of the bytes of files."""

    @pipeline_def(batch_size=len(encoded), num_threads=2, device_id=0)
    def pipeline():
        return fn.decoders.video(fn.external_source(lambda: encoded, batch=True), device=device, **arguments)

    pipe = pipeline()
    return on_host(pipe.run()[0])


@pytest.mark.parametrize("kind", ENGINE + HOST)
def test_frames_are_the_cpus(kind, calls, request):
    if kind not in HARD:
        request.getfixturevalue("by_the_engine")
    _, data, want = video(kind)
    (got,) = decoded([data])
    np.testing.assert_array_equal(got, want)
    (picked,) = decoded([data], frames=[33, 4, 4, 5, 39, 0])
    np.testing.assert_array_equal(picked, want[[33, 4, 4, 5, 39, 0]])
    calls.check(decoded=kind in ENGINE)
    each = [decoded([data], frames=[n])[0][0] for n in (1, 12, 13, 22, 38)]  # each from its own start
    np.testing.assert_array_equal(each, want[[1, 12, 13, 22, 38]])


@pytest.mark.parametrize("kind, size", ODD)
def test_odd_sizes(kind, size, calls, by_the_engine):
    _, data, want = video(kind, size)
    (got,) = decoded([data])
    np.testing.assert_array_equal(got, want)
    calls.check(decoded=size[1] % 2 == 0)  # the kernel does not support this sharing of chroma rows


@pytest.mark.parametrize("kind", ["h264", "hevc", "hevc_10bit", "vp9"])
@pytest.mark.parametrize("options", [{}, {"stride": 3, "step": 2}])
def test_sequences_of_readers(kind, options, calls, by_the_engine):
    path, _, want = video(kind)

    @pipeline_def(batch_size=3, num_threads=2, device_id=0)
    def pipeline():
        frames, label, first = fn.readers.video(
            filenames=[str(path)],
            labels=[7],
            sequence_length=5,
            enable_frame_num=True,
            device="gpu",
            name="reader",
            **options,
        )
        return (
            frames,
            label,
            first,
            fn.crop_mirror_normalize(frames, crop=(32, 32), output_layout="FCHW", dtype=types.FLOAT),
        )

    stride, step = options.get("stride", 1), options.get("step", 5)
    begins = [b for b in range(0, COUNT, step) if b + 4 * stride < COUNT]
    pipe = pipeline()
    for batch in range(5):
        frames, label, first, normalized = (on_host(o) for o in pipe.run())
        for k in range(3):
            begin = begins[(3 * batch + k) % len(begins)]
            np.testing.assert_array_equal(frames[k], want[begin : begin + 4 * stride + 1 : stride])
            assert label[k].tolist() == [7] and first[k].tolist() == [begin] and normalized[k].shape == (5, 3, 32, 32)
    calls.check()


def test_a_file_that_is_read_in_order_is_decoded_once(calls, by_the_engine):
    path, _, want = video("h264")

    @pipeline_def(batch_size=1, num_threads=1, device_id=0, prefetch_queue_depth=1)
    def pipeline():
        return fn.readers.video(filenames=[str(path)], sequence_length=4, device="gpu")

    pipe = pipeline()
    for first in range(0, COUNT, 4):
        np.testing.assert_array_equal(on_host(pipe.run()[0])[0], want[first : first + 4])
    calls.check()
    if not REAL:
        assert calls.count("create") + calls.count("reconfigure") == 1
        assert calls.count("map") <= COUNT + 4  # of the next epoch
        assert calls.count("decode") <= 2 * COUNT


def test_many_files_at_once(calls, by_the_engine):
    kinds = ["h264", "hevc", "vp8", "vp9", "h264_444", "hevc_10bit", "h264_b_avi", "av1"]
    paths = {str(video(kind)[0]): video(kind)[2] for kind in kinds}

    @pipeline_def(batch_size=6, num_threads=3, device_id=0, seed=5)
    def pipeline():
        return fn.readers.video(
            filenames=list(paths),
            labels=[],
            sequence_length=6,
            enable_frame_num=True,
            random_shuffle=True,
            device="gpu",
            name="reader",
        )

    pipe = pipeline()
    for _ in range(12):
        frames, label, first = (on_host(o) for o in pipe.run())
        for k in range(6):
            want, begin = list(paths.values())[label[k][0]], first[k][0]
            np.testing.assert_array_equal(frames[k], want[begin : begin + 6])
    calls.check()


def test_frames_as_floats_and_after_the_end(calls, by_the_engine):
    path, _, want = video("hevc")

    @pipeline_def(batch_size=2, num_threads=2, device_id=0)
    def pipeline():
        floats = fn.readers.video(
            filenames=[str(path)],
            sequence_length=30,
            pad_sequences=True,
            dtype=types.FLOAT,
            normalized=True,
            device="gpu",
            name="reader",
        )
        filled = fn.experimental.readers.video(
            filenames=[str(path)], sequence_length=30, pad_mode="constant", fill_value=[1, 2, 3], device="gpu"
        )
        return floats, filled

    floats, filled = (on_host(o) for o in pipeline().run())
    scaled = want.astype(np.float32) * np.float32(1 / 255)
    np.testing.assert_array_equal(floats[0], scaled[:30])
    np.testing.assert_array_equal(floats[1][:10], scaled[30:])
    assert not floats[1][10:].any()
    np.testing.assert_array_equal(filled[1][:10], want[30:])
    assert (filled[1][10:] == [1, 2, 3]).all()
    calls.check()


def test_sizes_that_a_decoder_reaches_are_reconfigured(calls, by_the_engine):
    for size in [SIZE, (192, 158), SIZE]:
        _, data, want = video("h264", size)
        np.testing.assert_array_equal(decoded([data])[0], want)
    _, data, want = video("hevc")
    np.testing.assert_array_equal(decoded([data])[0], want)
    calls.check()
    if not REAL:
        assert calls.count("reconfigure") >= 2


def errors(data, device):
    try:
        return [f.shape for f in decoded([data], device=device)]
    except Exception as e:  # noqa: BLE001 - whatever it is, it is the same
        return type(e).__name__, str(e).split("\n  at ")[0]


@pytest.mark.parametrize("kind", ["h264_ts", "hevc_open_gop", "vp9", "h264"])
def test_damaged_files_end_as_on_the_cpu(kind, calls):
    _, data, _ = video(kind)
    rng = np.random.default_rng(3)
    flipped = data.copy()
    flipped[rng.integers(len(data) // 3, len(data) * 2 // 3, 40)] ^= 0x55
    for bad in [data[: len(data) * 2 // 3], data[:40], np.zeros(1000, np.uint8), flipped]:
        on_cpu = errors(bad, "cpu")
        if REAL and isinstance(on_cpu, list):
            continue
        on_gpu = errors(bad, "mixed")
        if not REAL or isinstance(on_gpu, tuple):  # what a real engine conceals silently is not known
            assert on_gpu == on_cpu
    assert not [line for line in calls.lines() if line.startswith("breach")]


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_a_bad_sample_leaves_the_others(calls, tmp_path, on_error):
    good, bad = video("h264_ts")[0], tmp_path / "bad.ts"
    data = np.fromfile(good, np.uint8)
    data[len(data) // 2 : len(data) * 2 // 3] = 0x11
    bad.write_bytes(data.tobytes())

    @pipeline_def(batch_size=4, num_threads=2, device_id=0, seed=3, on_error=on_error)
    def pipeline():
        return fn.readers.video(
            filenames=[str(good), str(bad)], labels=[], sequence_length=4, device="gpu", name="reader"
        )

    def on_the_cpu():
        @pipeline_def(batch_size=4, num_threads=2, seed=3, on_error=on_error)
        def same():
            return fn.readers.video(filenames=[str(good), str(bad)], labels=[], sequence_length=4, name="reader")

        return same()

    ours, theirs = pipeline(), on_the_cpu()
    for _ in range(5):
        for a, b in zip(ours.run(), theirs.run()):
            got, want = on_host(a), [np.array(s) for s in b]
            assert len(got) == len(want)
            for x, y in zip(got, want):
                np.testing.assert_array_equal(x, y)
    calls.check()


def test_a_stream_that_changes_its_size_ends_as_on_the_cpu(calls, tmp_path):
    folder = Path(CARRIED or tmp_path)
    if not CARRIED:
        changing_size(folder)
    if not (folder / "changing_size.h264").exists():
        pytest.skip("machine: changing_size.h264 was not carried")
    data = np.fromfile(folder / "changing_size.h264", np.uint8)
    assert errors(data, "mixed") == errors(data, "cpu")
    (first,) = decoded([data], frames=list(range(10)))
    np.testing.assert_array_equal(first, decoded([data], device="cpu", frames=list(range(10)))[0])
    assert not [line for line in calls.lines() if line.startswith("breach")]


@pytest.mark.skipif(REAL, reason="machine: a real engine does what it does")
@pytest.mark.parametrize(
    "variable, value",
    [("PENSTOCK_STANDIN_TOP", "16"), ("PENSTOCK_STANDIN_DAMAGED", "7"), ("PENSTOCK_STANDIN_LEAST", "400")],
)
def test_what_engines_may_do(monkeypatch, calls, variable, value):
    """Pictures that do not begin at a surface's top; damage that it finds; sizes that it does not take."""
    monkeypatch.setenv(variable, value)
    for kind in ["h264", "hevc_10bit"]:
        _, data, want = video(kind)
        np.testing.assert_array_equal(decoded([data])[0], want)
    calls.check(decoded=variable != "PENSTOCK_STANDIN_LEAST")


@pytest.mark.skipif(REAL, reason="machine: it may have no other GPU library")
def test_without_the_engine_the_cpu_decodes_and_says_so(tmp_path):
    path, _, want = video("h264")
    np.save(tmp_path / "want.npy", want)
    code = f"""
import numpy as np, warnings
from penstock import fn, pipeline_def
@pipeline_def(batch_size=1, num_threads=1, device_id=0)
def pipeline():
    return fn.readers.video(filenames=[{str(path)!r}], sequence_length=5, device="gpu")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    got = np.array(pipeline().run()[0].as_cpu()[0])
np.testing.assert_array_equal(got, np.load({str(tmp_path / "want.npy")!r})[:5])
assert any("PENSTOCK_NVDEC turns NVDEC off" in str(w.message) for w in said), [str(w.message) for w in said]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env={**os.environ, "PENSTOCK_NVDEC": "off"})
