# SPDX-License-Identifier: Apache-2.0
"""tests/release/results.py gives the checksums of results.txt: wheels for other processors are compared with the same file."""

import importlib.util
import struct
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / "tools" / "release"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_results_are_those_of_every_processor(capsys, tmp_path):
    results = load(HERE / "results.py")
    results.main(tmp_path / "first.png")
    assert capsys.readouterr().out == (HERE / "results.txt").read_text()
    head = (tmp_path / "first.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:]) == (4 * 64, 64)


@pytest.mark.parametrize(
    "code, options, words",
    [
        ("int f(int x) { return x + 1; }", [], None),
        (
            "double pow(double, double); double f(double x) { return pow(x, x); }",
            ["-lm"],
            "needs pow of GLIBC_2.29, which is too new",
        ),
        ("int g(int); int f(int x) { return g(x); }", [], "needs g, which nothing has"),
        (
            "int PyLong_Check(int); int f(int x) { return PyLong_Check(x); }",
            [],
            "needs PyLong_Check, which nothing has",
        ),
        ("int f(int x) { return x; }", ["-Wl,-rpath,/opt/x"], "looks for libraries in /opt/x"),
        (
            "int crc32(long, void*, int); int f(int x) { return crc32(x, 0, 0); }",
            ["-lz"],
            "needs libz.so.1, which is not part of the system",
        ),
    ],
)
def test_binaries_that_not_every_system_runs_are_refused(tmp_path, code, options, words):
    source, library = tmp_path / "f.c", tmp_path / "libf.so"
    source.write_text(code)
    subprocess.run(["gcc", "-shared", "-fPIC", "-fno-builtin", source, "-o", library, *options], check=True)
    elf = load(TOOLS / "elf.py")
    if words is None:
        assert elf.check(tmp_path) == [library]
        return
    with pytest.raises(SystemExit) as error:
        elf.check(tmp_path)
    assert words in str(error.value)


def test_only_the_python_module_may_need_names_of_python(tmp_path):
    (tmp_path / "f.c").write_text("int PyLong_Check(int); int f(int x) { return PyLong_Check(x); }")
    module = tmp_path / "_core.abi3.so"
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "f.c", "-o", module], check=True)
    assert load(TOOLS / "elf.py").check(tmp_path) == [module]
