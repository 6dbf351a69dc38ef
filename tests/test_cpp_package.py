# SPDX-License-Identifier: Apache-2.0
"""An installed tree serves C and C++ programs: through find_package, through pkg-config, and after it was moved."""
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build"))

CONSUMER = """
cmake_minimum_required(VERSION 3.24)
project(consumer LANGUAGES C CXX)
find_package(penstock 0.1 REQUIRED)
add_executable(flip {flip})
target_link_libraries(flip PRIVATE penstock::penstock)
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    root = tmp_path_factory.mktemp("install")
    run("cmake", "--install", BUILD, "--prefix", root / "first", "--component", "development")
    (root / "first").rename(root / "moved")
    return root / "moved"


def pkg_config(prefix):
    """Flags of penstock.pc, as pkg-config makes them."""
    file = next(prefix.rglob("penstock.pc"))
    variables, flags = {"pcfiledir": str(file.parent)}, []
    for line in file.read_text().splitlines():
        line = re.sub(r"\$\{(\w+)\}", lambda m: variables[m[1]], line)
        if assignment := re.fullmatch(r"(\w+)=(.*)", line):
            variables[assignment[1]] = assignment[2]
        elif line.startswith(("Libs:", "Cflags:")):
            flags += line.split(":", 1)[1].split()
    return flags, variables["libdir"]


def test_find_package(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER.format(flip=ROOT / "examples" / "flip.c"))
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert "right" in run(tmp_path / "build" / "flip")


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_pkg_config(prefix, tmp_path, standard):
    program = tmp_path / "program.cpp"
    program.write_text("""
        #include <penstock/fn.h>
        int main() {
          uint8_t bytes[] = {1, 2, 3, 4, 5, 6};
          const auto images = penstock::Batch::wrap(bytes, {1, 2, 3, 1}, "HWC");
          penstock::fn::FlipArguments arguments;
          arguments.horizontal = 1;
          const penstock::Batch flipped = penstock::fn::flip(images, arguments);
          return flipped[0].as<uint8_t>()[0] == 3 ? 0 : 1;
        }""")
    flags, libraries = pkg_config(prefix)
    compiler = os.environ.get("CXX", "c++")
    run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", program, "-o", tmp_path / "program",
        *flags)
    run(tmp_path / "program", env={**os.environ, "LD_LIBRARY_PATH": libraries})


def test_header_is_c99(prefix, tmp_path):
    source = tmp_path / "only.c"
    source.write_text("#include <penstock/penstock.h>\nint main(void) { return penstock_version()[0] != '0'; }\n")
    flags, libraries = pkg_config(prefix)
    run(os.environ.get("CC", "cc"), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o", tmp_path / "only",
        *flags)
    run(tmp_path / "only", env={**os.environ, "LD_LIBRARY_PATH": libraries})
