# SPDX-License-Identifier: Apache-2.0
"""penstock doctor: each check on a machine that is made for it, and the command as a user runs it."""

import json
import os
from types import SimpleNamespace

import pytest

from penstock import _commands as commands
from penstock._command_line import advice, checks, disks, doctor
from penstock._command_line.machine import Machine

NO_CODECS = [
    (name, "", f"{name} was not found")
    for name in ("FFmpeg", "AVIF", "HEIC", "JPEG XL", "OpenEXR", "MP3", "MP3 encoder")
]


def core(**answers):
    """A library that answers as on a small machine without a GPU."""
    usual = {
        "cpu_target": "avx2",
        "usable_cores": 2,
        "gpu_why_not": "no NVIDIA driver is installed here",
        "gpu_count": 0,
        "gpu_name": "a GPU",
        "gpu_kernel_compiler": "NVRTC is not installed",
        "gpu_direct_storage": "none: cuFile was not found",
        "runtime_codecs": NO_CODECS,
        **answers,
    }
    return SimpleNamespace(**{name: (lambda *_, value=value: value) for name, value in usual.items()})


@pytest.fixture
def machine(tmp_path):
    """Makes a Machine of files: machine({path: text}, library's answers, what else Machine takes)."""

    def make(files=(), answers={}, **given):
        root = tmp_path / "root"
        for path, text in dict(files).items():
            file = root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        given.setdefault("cuda_version", lambda: 0)
        return Machine(str(root), core(**answers), **given)

    return make


def of(findings, name):
    (found,) = [f for f in findings if f.name == name]
    return found


CPUS = "processor\t: 0\nmodel name\t: A Processor\n" + "".join(f"processor\t: {i}\n" for i in range(1, 8))


def test_cores_that_the_machine_has_and_the_process_may_not_use(machine):
    found = list(checks.processor(machine({"/proc/cpuinfo": CPUS})))
    assert of(found, "processor").state == "ok" and of(found, "processor").found == "A Processor: avx2"
    cores = of(found, "cores")
    assert cores.state == "note" and cores.found.startswith("2 of the machine's 8:") and "--cpus" in cores.fix
    all_of_them = machine({"/proc/cpuinfo": CPUS}, {"usable_cores": 8})
    assert of(checks.processor(all_of_them), "cores").state == "ok"


def test_a_processor_that_is_slow_or_is_told_to_be(machine, monkeypatch):
    slow = of(checks.processor(machine(answers={"cpu_target": "scalar"})), "processor")
    assert slow.state == "note" and "no AVX2" in slow.found
    monkeypatch.setenv("PENSTOCK_TARGET", "scalar")
    told = of(checks.processor(machine(answers={"cpu_target": "scalar"})), "processor")
    assert told.state == "note" and told.fix == "unset PENSTOCK_TARGET"


@pytest.mark.parametrize(
    "file, text, limit",
    [
        ("/sys/fs/cgroup/memory.max", "2000000000\n", 2_000_000_000),
        ("/sys/fs/cgroup/memory.max", "max\n", None),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000000\n", 3_000_000_000),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", f"{2**63 - 4096}\n", None),
        ("/etc/none", "", None),
    ],
)
def test_the_limit_of_memory(machine, file, text, limit):
    made = machine({"/proc/meminfo": "MemTotal:       16000000 kB\n", file: text})
    assert made.memory() == (16_384_000_000, limit)
    found = of(checks.memory(made), "memory")
    assert found.state == ("note" if limit else "ok") and "16.4 GB" in found.found


@pytest.mark.parametrize("size, state", [(None, "missing"), (64 << 20, "missing"), (8 << 30, "ok")])
def test_the_size_of_shared_memory(machine, size, state):
    def filesystem(path):
        assert path.endswith("root/dev/shm")
        if size is None:
            raise OSError
        return SimpleNamespace(f_blocks=size // 4096, f_frsize=4096, f_bavail=size // 8192)

    found = of(checks.memory(machine(filesystem=filesystem)), "/dev/shm")
    assert found.state == state and found.uses == ("workers",)
    assert bool(found.fix) == (state == "missing")


MOUNTS = (
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "30 22 0:50 / {data} rw,relatime shared:1 - nfs4 server:/x rw\n"
    "31 22 8:17 / {fast} rw - xfs /dev/sdb1 rw\n"
)


@pytest.mark.parametrize("rotates, kind", [("1", "disk that turns (xfs)"), ("0", "solid-state disk (xfs)")])
def test_the_kind_of_a_disk(machine, tmp_path, rotates, kind):
    data, fast = tmp_path / "data", tmp_path / "fast disk"
    data.mkdir(), fast.mkdir()
    made = machine(
        {
            "/proc/self/mountinfo": MOUNTS.format(data=data, fast=str(fast).replace(" ", "\\040")),
            "/sys/dev/block/8:17/queue/rotational": rotates + "\n",
        }
    )
    assert disks.kind_of(made, str(data)) == "network (nfs4)"
    assert disks.kind_of(made, str(fast)) == kind
    assert disks.kind_of(made, str(tmp_path / "datasets")) == "ext4"  # not in `data`


def test_a_data_set_that_memory_holds(machine, tmp_path):
    data = tmp_path / "set"
    data.mkdir()
    for i in range(5):
        (data / f"{i}.bin").write_bytes(bytes(10_000))
    (data / "empty").touch()
    roomy = machine({"/proc/meminfo": "MemTotal: 1000000 kB\n"})
    (found,) = checks.storage(roomy, str(data))
    assert found.state == "ok" and "6 files, 50000 bytes" in found.found and "fits into memory" in found.found
    assert disks.cached_share(disks.files_of(str(data))[0]) == 1.0  # they were just written
    narrow = machine(
        {"/proc/meminfo": "MemTotal: 40 kB\n", "/proc/self/mountinfo": MOUNTS.format(data=data, fast="/x")}
    )
    (found,) = checks.storage(narrow, str(data))
    assert found.state == "note" and "more than memory holds" in found.found and "solid-state" in found.fix
    (found,) = checks.storage(narrow, str(tmp_path / "none"))
    assert found.state == "missing" and found.uses == ("data",)


NVIDIA = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Wed Jan 1 00:00:00 UTC 2025\n"


def gpu_findings(machine, version=0, release="", **answers):
    files = {"/proc/driver/nvidia/version": NVIDIA.format(release)} if release else {}
    return list(checks.gpu(machine(files, answers, cuda_version=lambda: version)))


def test_no_driver(machine):
    found = gpu_findings(machine)
    assert of(found, "driver").state == of(found, "GPU").state == "missing"
    assert "525 or newer" in of(found, "driver").fix and "--gpus all" in of(found, "driver").fix
    assert of(found, "kernel compiler").state == "note"


def test_a_driver_that_is_too_old_and_ones_that_are_not(machine):
    old = of(gpu_findings(machine, 11040, "470.82.01"), "driver")
    assert old.state == "missing" and old.found == "470.82.01, CUDA 11.4: too old" and "525" in old.fix
    for version, release, text in ((12000, "525.60.13", "CUDA 12.0"), (13000, "580.65.06", "CUDA 13.0")):
        new = of(gpu_findings(machine, version, release), "driver")
        assert new.state == "ok" and new.found == f"{release}, {text}"


@pytest.mark.parametrize("version, major", [(12040, "cu12"), (13000, "nvrtc")])
def test_a_compiler_of_kernels_that_fits_the_driver(machine, version, major):
    here = {"gpu_why_not": "", "gpu_count": 2}
    lacking = of(gpu_findings(machine, version, "570.1", **here), "kernel compiler")
    assert lacking.state == "missing" and f"cuda{version // 1000}" in lacking.fix or major in lacking.fix
    there = gpu_findings(machine, version, "570.1", gpu_kernel_compiler="NVRTC 12.9, /x/libnvrtc.so.12", **here)
    assert of(there, "kernel compiler").state == "ok"
    assert [f.name for f in there if f.name.startswith("GPU")] == ["GPU 0", "GPU 1"]


@pytest.mark.parametrize(
    "system, ffmpeg",
    [
        ('ID=ubuntu\nID_LIKE="debian"\n', "apt-get install -y ffmpeg"),
        ("ID=fedora\n", "dnf install -y ffmpeg-free"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install -y ffmpeg-free"),
        ("ID=alpine\n", "apk add ffmpeg-libs"),
        ("ID=unknown\n", "apt-get install -y ffmpeg"),
    ],
)
def test_codecs_that_are_missing(machine, system, ffmpeg):
    found = list(checks.codecs(machine({"/etc/os-release": system})))
    assert [f.state for f in found] == ["missing"] * len(NO_CODECS) and of(found, "FFmpeg").fix == ffmpeg
    there = list(checks.codecs(machine(answers={"runtime_codecs": [("FFmpeg", "libavcodec 59", ""), ("MP3", "", "")]})))
    assert [(f.state, f.found, f.fix) for f in there] == [("ok", "libavcodec 59", ""), ("ok", "found", "")]


def test_a_codec_library_without_its_decoder(machine):
    made = machine({"/etc/os-release": "ID=debian\n"})
    assert advice.install_codec(made, "HEIC", "an HEVC decoder in libheif, which has none") == (
        "apt-get install -y libheif-plugin-libde265"
    )


def test_modules_of_python(machine):
    found = list(checks.modules(machine(find=lambda name: None if name == "obstore" else object())))
    assert [f.name for f in found if f.state == "missing"] == ["obstore"]
    assert "-m pip install" in of(found, "obstore").fix


def run(capsys, monkeypatch, made, *arguments):
    monkeypatch.setattr(doctor, "Machine", lambda: made)
    code = commands.main(["doctor", *arguments])
    return code, *capsys.readouterr()


def test_the_command_ends_with_1_where_what_was_asked_for_is_missing(machine, capsys, monkeypatch, tmp_path):
    codecs = [("FFmpeg", "libavcodec 59", ""), *NO_CODECS[1:]]
    made = machine(answers={"runtime_codecs": codecs})
    code, out, _ = run(capsys, monkeypatch, made)
    assert code == 0 and "not here  HEIC" in out and "MISSING" not in out
    code, out, _ = run(capsys, monkeypatch, made, "--for", "video")
    assert code == 0 and out.endswith("all that video needs is here\n")
    code, out, _ = run(capsys, monkeypatch, made, "--for", "video, gpu,heic")
    assert code == 1 and out.endswith("missing for video,gpu,heic: driver, GPU, HEIC\n") and "MISSING   HEIC" in out
    code, out, _ = run(capsys, monkeypatch, made, "--json", "--for", "mp3", "--data", str(tmp_path / "none"))
    told = json.loads(out)
    assert code == 1 and told["missing"] == [f"data {tmp_path / 'none'}", "MP3"]
    assert {"name", "state", "found", "fix", "for"} == set(told["findings"][0])
    code, _, err = run(capsys, monkeypatch, made, "--for", "vidio")
    assert code == 2 and "--for has no 'vidio'" in err and "video" in err
    code, _, err = run(capsys, monkeypatch, made, "--for", "data")
    assert code == 2 and "--data PATH" in err


def test_this_machine(capsys):
    assert commands.main(["doctor", "--json", "--for", "video,numpy,mp3", "--data", os.path.dirname(__file__)]) == 0
    names = [f["name"] for f in json.loads(capsys.readouterr().out)["findings"]]
    assert names[:3] == ["penstock", "processor", "cores"] and "GPU" in names or "GPU 0" in names
