# SPDX-License-Identifier: Apache-2.0
"""Where NVIDIA's libraries are loaded from: beside the package, not from folders above it that others may write."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

LIBRARY = "libcufile.so.0"  # the one that `penstock info` looks for


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A library that reports that it was loaded."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "planted.c").write_text(
        "#include <unistd.h>\n__attribute__((constructor)) static void told(void)\n"
        '{ (void)!write(1, "PLANTED\\n", 8); }\n'
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / LIBRARY, folder / "planted.c"], check=True)
    return folder / LIBRARY


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """site/x/penstock as `pip install --target site/x` makes it, without NVIDIA's wheels."""
    if os.environ.get("PENSTOCK_TEST_GPU") == "real":
        pytest.skip("machine: the emulated GPU's library is copied")
    folder = tmp_path_factory.mktemp("site") / "x" / "penstock"
    folder.mkdir(parents=True)
    shutil.copy(os.environ["PENSTOCK_GPU_LIBRARY"], folder / "libpenstock_cuda.so.0.1")
    return folder


def loaded(package):
    environment = {k: v for k, v in os.environ.items() if k not in ("PENSTOCK_NVIDIA_LIBS", "PENSTOCK_CUFILE")}
    environment["PENSTOCK_GPU_LIBRARY"] = str(package / "libpenstock_cuda.so.0.1")
    environment["LD_LIBRARY_PATH"] = str(pathlib.Path(os.environ["PENSTOCK_GPU_LIBRARY"]).parent)
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "info"], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0 and "no GPU" not in done.stdout, done.stdout + done.stderr
    return "PLANTED" in done.stdout, done.stdout


@pytest.mark.parametrize("up, found", [(1, True), (2, False), (3, False)])
def test_wheels_are_looked_for_beside_the_package(planted, package, up, found):
    folder = package.parents[up - 1] / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    try:
        shutil.copy(planted, folder)
        assert loaded(package)[0] == found
    finally:
        shutil.rmtree(folder.parents[1])


@pytest.mark.parametrize("place", ["nvidia", "nvidia/cu13", "nvidia/cu13/lib", f"nvidia/cu13/lib/{LIBRARY}"])
def test_what_anybody_may_write_is_not_loaded(planted, package, place):
    folder = package.parent / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    try:
        shutil.copy(planted, folder)
        os.chmod(package.parent / place, 0o777)
        planted_there, told = loaded(package)
        assert not planted_there and "another user could have put it there" in told
    finally:
        shutil.rmtree(folder.parents[1])
