# SPDX-License-Identifier: Apache-2.0
"""An installed tree serves C and C++ programs: through find_package, through pkg-config, and after it was moved."""

import os
import re
import shutil
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
    """What the line in the how-to installs from the tree that is built, then moved. A tree of scikit-build installs the same."""
    root = tmp_path_factory.mktemp("install")
    page = (ROOT / "docs" / "how_to" / "call_from_cpp.md").read_text()
    line = re.search(r"^cmake --install build --prefix /opt/penstock$", page, re.MULTILINE)[0]
    run(*line.replace(" build ", f" {BUILD} ").replace("/opt/penstock", str(root / "first")).split())
    (root / "first").rename(root / "moved")
    return root / "moved"


def test_only_what_cpp_programs_need_is_installed(prefix):
    files = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if not p.is_dir()}
    wanted = {
        "penstock.h",
        "penstock.hpp",
        "pipeline.hpp",
        "function.hpp",
        "batch.hpp",
        "arguments.hpp",
        "graph.hpp",
        "choices.h",
        "image.h",
        "dlpack.h",
        "geometry.h",
        "fn.h",
        "penstock.pc",
        "penstockConfig.cmake",
        "penstockConfigVersion.cmake",
        "libpenstock.so",
        "libpenstock.so.0.1",
        "LICENSE",
        "NOTICE",
        "penstock-plugin.pc",
        "PenstockConfig.cmake",
        "operator.h",
        "image_format.h",
        "reader.h",
    }
    assert wanted <= {Path(f).name for f in files}
    assert not [f for f in files if "_core" in f or f.startswith("penstock/")]


def test_a_wheel_holds_the_parts_of_python_alone():
    rules = re.findall(r"install\([^()]*\)", (ROOT / "python" / "CMakeLists.txt").read_text())
    assert len(rules) == 5 and all("${wheel}" in rule for rule in rules)
    assert 'install.components = ["python"]' in (ROOT / "pyproject.toml").read_text()


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


@pytest.mark.parametrize("name", ["penstock", "Penstock"])
def test_find_package(prefix, tmp_path, name):
    """In an installed tree, and in the Python package."""
    if name == "Penstock":
        import penstock

        prefix = penstock.cmake_prefix_path
        assert Path(penstock.get_include(), "penstock", "fn.h").exists()
    consumer = CONSUMER.format(flip=ROOT / "examples" / "flip.c")
    consumer = consumer.replace("(penstock ", f"({name} ").replace("penstock::penstock", f"{name}::penstock")
    (tmp_path / "CMakeLists.txt").write_text(consumer)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert "right" in run(tmp_path / "build" / "flip")
    (tmp_path / "CMakeLists.txt").write_text(consumer.replace("REQUIRED", "REQUIRED COMPONENTS gpu"))
    again = ["cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    refused = subprocess.run(again, capture_output=True, text=True, timeout=300).stderr
    assert "components library and plugin, but no 'gpu'" in " ".join(refused.split())


def test_exported_symbols(prefix):
    """Names of Penstock alone: nothing of the libraries that it is made with."""
    library = next(prefix.rglob("libpenstock.so.0.1"))
    names = [line.split()[2] for line in run("nm", "-D", "--defined-only", library).splitlines()]
    foreign = [n for n in names if "penstock" not in n or re.match(r"_ZNK?(?!8penstock)\d|_ZNK?S", n)]
    assert not foreign and sum(n.startswith("penstock_") for n in names) > 60
    assert "libpenstock.so.0.1" in run("readelf", "-d", library)


def test_a_package_of_debian(tmp_path):
    """Its files in an empty folder are enough to build a program and to run it."""
    config = BUILD / "CPackConfig.cmake"
    run(
        "cpack",
        "--config",
        config,
        "-B",
        tmp_path / "made",
        "-D",
        "CPACK_DEBIAN_COMPRESSION_TYPE=none",
        "-D",
        "CPACK_STRIP_FILES=OFF",
    )
    (package,) = (tmp_path / "made").glob("libpenstock-dev_0.1.0_*.deb")
    run("dpkg-deb", "-x", package, tmp_path / "root")
    if shutil.which("dpkg-shlibdeps"):
        assert "libjpeg62-turbo" in run("dpkg-deb", "--field", package, "Depends")
    assert not [p for p in (tmp_path / "root").rglob("*") if p.suffix == ".py"]
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER.format(flip=ROOT / "examples" / "flip.c"))
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'root' / 'usr'}")
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
    compile_and_run(program, standard, prefix, tmp_path)


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_types_of_the_headers(prefix, tmp_path, standard):
    """Lists from any range, batches as ranges, spans, const memory: what compiles, what does not, and what it gives."""
    compile_and_run(ROOT / "tests" / "header_types.cpp", standard, prefix, tmp_path)


def test_opencv_matrices_go_in_and_out(prefix, tmp_path):
    opencv = ["-isystem", "/usr/include/opencv4", "-lopencv_core"]
    compile_and_run(ROOT / "tests" / "opencv_mats.cpp", "c++17", prefix, tmp_path, *opencv)


def test_gpu_matrices_of_opencv_go_in_and_out(prefix, tmp_path):
    opencv = ["-isystem", "/usr/include/opencv4", "-lopencv_core"]
    gpu = {**os.environ, "PENSTOCK_GPU_LIBRARY": str(BUILD / "libpenstock_emulated_gpu.so")}
    compile_and_run(ROOT / "tests" / "opencv_gpu_mats.cpp", "c++17", prefix, tmp_path, *opencv, env=gpu)


def compile_and_run(program, standard, prefix, tmp_path, *more, env=None):
    flags, libraries = pkg_config(prefix)
    run(
        os.environ.get("CXX", "c++"),
        f"-std={standard}",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wconversion",
        "-Wshadow",
        "-Wold-style-cast",
        "-Werror",
        program,
        "-o",
        tmp_path / "program",
        *flags,
        *more,
    )
    run(tmp_path / "program", env={**(env or os.environ), "LD_LIBRARY_PATH": libraries})


def test_headers_include_no_heavy_header_of_the_standard_library(prefix, tmp_path):
    """Each of these costs a program as much to parse as Penstock's calls do; <memory>, <string> and <vector> are needed."""
    heavy = "algorithm chrono format fstream functional iostream map mutex regex sstream thread unordered_map variant"
    (tmp_path / "only.cpp").write_text("#include <penstock/fn.h>\n#include <penstock/image.hpp>\n")
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-M", tmp_path / "only.cpp", *pkg_config(prefix)[0]]
    parsed = {Path(name).name for name in run(*command).replace("\\\n", " ").split()}
    assert "memory" in parsed and "geometry.h" in parsed
    assert not parsed & set(heavy.split())


def test_header_is_c99(prefix, tmp_path):
    source = tmp_path / "only.c"
    source.write_text("#include <penstock/image.h>\nint main(void) { return penstock_version()[0] != '0'; }\n")
    flags, libraries = pkg_config(prefix)
    run(
        os.environ.get("CC", "cc"),
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        source,
        "-o",
        tmp_path / "only",
        *flags,
    )
    run(tmp_path / "only", env={**os.environ, "LD_LIBRARY_PATH": libraries})
