# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: the example is built out of tree against an installed tree, and is used in processes of their own."""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import penstock
import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build"))


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def tree():
    """An installed tree and the example built against it; always in the same folder, where ccache knows it."""
    tree = BUILD / "plugin_tree"
    tree.mkdir(exist_ok=True)
    with open(tree / "lock", "w") as lock:  # processes of pytest-xdist
        fcntl.flock(lock, fcntl.LOCK_EX)
        run("cmake", "--install", BUILD, "--prefix", tree / "installed")
        run(
            *("cmake", "-S", ROOT / "examples" / "plugin", "-B", tree / "example", "-DCMAKE_BUILD_TYPE=Release"),
            *(
                f"-DCMAKE_PREFIX_PATH={tree / 'installed'}",
                "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror -Wno-maybe-uninitialized",
            ),
        )
        run("cmake", "--build", tree / "example", "-j", "2")
    return tree


@pytest.fixture(scope="session")
def example(tree):
    return tree / "example" / "libexample_plugin.so"


def test_a_plugin_appears_everywhere(example, tmp_path):
    gpu = {"PENSTOCK_GPU_LIBRARY": str(BUILD / "libpenstock_emulated_gpu.so")}
    run(sys.executable, ROOT / "tests" / "plugin_program.py", example, tmp_path, env={**os.environ, **gpu})
    # Another process: the plug-in is loaded by the setting.
    program = (
        "import json, numpy, penstock, sys; from penstock import fn; fn.duotone, fn.effects.emboss\n"
        "pipe = penstock.Pipeline.deserialize(filename=sys.argv[1])\n"
        "out = pipe.run()[0]; numpy.save(sys.argv[2], out.as_array())"
    )
    for setting in (example, example.parent):  # a file or a folder
        run(
            *(sys.executable, "-c", program, tmp_path / "saved.json", tmp_path / "again.npy"),
            env={**os.environ, "PENSTOCK_PLUGINS": str(setting)},
        )
        np.testing.assert_array_equal(np.load(tmp_path / "saved.npy"), np.load(tmp_path / "again.npy"))
    # A program in C++, and the command that verifies files.
    wanted = np.load(tmp_path / "saved.npy")
    (tmp_path / "program.cpp").write_text(CPP)
    flags = run("pkg-config", "--cflags", "--libs", "penstock", env=of_pkg_config(example.parent.parent)).split()
    library_folder = next(f[2:] for f in flags if f.startswith("-L"))
    run(
        *(os.environ.get("CXX", "c++"), "-std=c++20", tmp_path / "program.cpp", "-o", tmp_path / "program"),
        *(*flags, f"-Wl,-rpath,{library_folder}"),
    )
    said = run(tmp_path / "program", example, tmp_path / "saved.json").split()
    assert [float(x) for x in said] == [wanted.astype(np.float64).sum(), wanted.size]
    env = {**os.environ, "PENSTOCK_PLUGINS": str(example)}
    verify = [sys.executable, "-m", "penstock", "verify"]
    assert run(*verify, tmp_path / "a.qoi", env=env) == ""  # whole
    (tmp_path / "cut.qoi").write_bytes((tmp_path / "a.qoi").read_bytes()[:40])
    done = subprocess.run([*verify, tmp_path / "cut.qoi"], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "QOI: premature end of file" in done.stdout, done.stdout + done.stderr


CPP = r"""
#include <penstock/pipeline.hpp>
#include <cstdio>
int main(int, char** argv) {
  if (penstock_load_library(argv[1]) != PENSTOCK_OK) { std::puts(penstock_last_error()); return 1; }
  auto pipeline = penstock::Pipeline::load_file(argv[2], {});
  std::vector<penstock::Batch> outputs;
  if (!pipeline.next(outputs)) return 1;
  double sum = 0, count = 0;
  for (const penstock::Tensor& sample : outputs[0])
    for (const float v : sample.span<const float>()) sum += v, ++count;
  std::printf("%.17g %.0f\n", sum, count);
}
"""


def of_pkg_config(tree):
    return {**os.environ, "PKG_CONFIG_PATH": str(next((tree / "installed").rglob("penstock.pc")).parent)}


def refused(*lines, setting=None):
    """What an own process says that loads a library, and that nothing of it is there after that."""
    program = "\n".join(["import sys, penstock", *lines])
    env = {**os.environ, **({"PENSTOCK_PLUGINS": str(setting)} if setting else {})}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr.strip().splitlines()[-1]


def loading(path):
    return f"penstock.load_library({str(path)!r})"


def test_libraries_that_are_refused(example, tmp_path):
    """A missing file, a folder, a file that is none, a library that is none, other versions: a sentence for each."""
    absent = tmp_path / "absent.so"
    assert refused(loading(absent)) == f"FileNotFoundError: there is no plug-in {absent}: No such file or directory"
    assert f"the plug-in {tmp_path} is a folder" in refused(loading(tmp_path))
    text = tmp_path / "text.so"
    text.write_text("no library")
    assert f"{text} is not a plug-in of Penstock: it was not built with penstock/operator.h" in refused(loading(text))
    gpu = BUILD / "libstandin_nvrtc.so"
    assert "is not a plug-in of Penstock" in refused(loading(gpu))
    assert "ValueError: PENSTOCK_PLUGINS: " in refused(setting=text)
    bytes_of = example.read_bytes()
    for now, other, said in (
        (
            b"0.1.0; libstdc++",
            b"0.2.0; libstdc++",
            "was built for Penstock 0.2.0, and this is Penstock 0.1.0: build it",
        ),
        (b"0.1.0; libstdc++", b"0.1.0; libc++\0\0\0", "was built with libc++, and this Penstock 0.1.0 with libstdc++"),
    ):
        assert bytes_of.count(b"abi: " + now) == 1
        other_version = tmp_path / "other.so"
        other_version.write_bytes(bytes_of.replace(b"abi: " + now, b"abi: " + other))
        assert said in refused(loading(other_version)), said
    cut = tmp_path / "cut.so"
    cut.write_bytes(bytes_of[: len(bytes_of) * 3 // 4])
    assert f"the plug-in {cut} is truncated: it has {len(bytes_of) * 3 // 4} bytes" in refused(loading(cut))
    cut.write_bytes(b"penstock plug-in abi: 0.1.0; libstdc++\0")
    assert f"the plug-in {cut} cannot be loaded: " in refused(loading(cut))


def test_a_plugin_with_a_name_that_exists(tree, tmp_path):
    """Nothing of it is used: neither its new operator nor its format."""
    source = (ROOT / "examples" / "plugin" / "duotone.cpp").read_text()
    taken = source.replace("PENSTOCK_OPERATOR(Duotone);", "").replace("}  // namespace example", "")
    taken += """
struct First : Duotone {
  static Schema<First> schema() { return Schema<First>("aaa_first", "Does nothing."); }
};
PENSTOCK_OPERATOR(First);
struct Taken : Duotone {
  static Schema<Taken> schema() { return Schema<Taken>("flip", "Does nothing."); }
};
PENSTOCK_OPERATOR(Taken);
}
"""
    (tmp_path / "taken.cpp").write_text(taken)
    flags = run("pkg-config", "--cflags", "--libs", "penstock-plugin", env=of_pkg_config(tree)).split()
    library = tmp_path / "libtaken.so"
    run(
        *(os.environ.get("CXX", "c++"), "-O0", "-shared", tmp_path / "taken.cpp", "-o", library),
        *(re.sub("^-O3$", "-O0", flag) for flag in flags),
    )
    sentence = f"the plug-in {library} cannot be used: there is an operator 'flip' already"
    lines = [f"try: {loading(library)}", f"except ValueError as e: assert str(e) == {sentence!r}, e", loading(library)]
    assert refused(*lines) == f"ValueError: {sentence}"
    nothing = [*lines[:2], "from penstock import fn", "fn.flip([[1]])", "fn.aaa_first"]
    assert "has no attribute 'aaa_first'" in refused(*nothing)


def test_load_library_of_no_path():
    with pytest.raises(TypeError):
        penstock.load_library(3)
