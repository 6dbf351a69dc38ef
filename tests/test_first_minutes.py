# SPDX-License-Identifier: Apache-2.0
"""`make demo` on a fresh machine: what is built for it, what it says if something is missing, and how it ends."""

import collections
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build"))


def program(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/bash\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path):
    """A tree with tools/install alone, on a machine where dpkg finds nothing, root is at work and nothing can be reached."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "install", tmp_path / "tools")
    programs = tmp_path / "programs"
    program(programs, "dpkg-query", "exit 1")
    program(programs, "id", "echo 0")
    program(
        programs,
        "apt-get",
        f'echo "$@" >>{tmp_path}/asked; case " $* " in *" --download-only "*) echo "E: Failed to fetch" >&2; exit 100;; esac',
    )
    program(
        tmp_path / "venv" / "bin",
        "python",
        'case " $* " in *" download "*) echo "ERROR: No matching distribution" >&2; exit 1;; esac',
    )
    return tmp_path


def install(machine, *arguments, **variables):
    variables = {"PATH": f"{machine}/programs:{os.environ['PATH']}", "PYTHON": sys.executable, **variables}
    return subprocess.run(
        [machine / "tools" / "install", *arguments], capture_output=True, text=True, env=variables, timeout=240
    )


def test_missing_packages_without_root(machine):
    program(machine / "programs", "id", "echo 1000")
    done = install(machine, "debian", "g++", "cmake")
    assert done.returncode == 1
    assert "only root can install" in done.stderr and "--no-install-recommends g++ cmake\n" in done.stderr
    assert not (machine / "asked").exists()


def test_installed_packages_need_no_network(machine):
    program(machine / "programs", "dpkg-query", "echo installed")
    program(machine / "programs", "id", "echo 1000")
    assert install(machine, "debian", "g++", "cmake").returncode == 0
    assert not (machine / "asked").exists()


def test_another_system_than_debian(machine):
    folder = machine / "few"
    for name in ("bash", "dirname", "env"):
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(shutil.which(name))
    done = install(machine, "debian", "g++", PATH=str(folder))
    assert done.returncode == 1 and "not Debian" in done.stderr and "make demo DEBIAN=" in done.stderr
    assert install(machine, "debian", PATH=str(folder)).returncode == 0  # what DEBIAN= asks for


def test_apt_without_a_network(machine):
    done = install(machine, "debian", "g++")
    assert done.returncode == 1
    assert "E: Failed to fetch" in done.stderr and "Is there a network?" in done.stderr and "http_proxy" in done.stderr


def test_downloads_are_timed_apart(machine):
    program(machine / "programs", "apt-get", 'case " $* " in *" --download-only "*) sleep 0.3;; esac')
    assert install(machine, "debian", "g++").returncode == 0
    seconds = collections.Counter()
    for line in (machine / "build" / "times").read_text().splitlines():
        kind, value = line.split()
        seconds[kind] += float(value)
    assert seconds["download"] >= 0.3 > seconds["install"] > 0


def test_pip_without_a_network(machine):
    (machine / "list.txt").write_text("numpy\n")
    done = install(machine, "python", "venv", "list.txt")
    assert done.returncode == 1
    assert "No matching distribution" in done.stderr and "pip could not download what list.txt lists" in done.stderr
    assert "Is there a network?" in done.stderr


def test_an_old_python(machine):
    program(machine / "programs", "python3", '[ "$1" = -V ] && echo Python 3.9.2; exit 1')
    done = install(machine, "python", "venv", "list.txt", PYTHON="python3")
    assert done.returncode == 1 and "python3 is Python 3.9.2: the build needs Python 3.11 or newer" in done.stderr


@pytest.mark.parametrize(
    "cores, free, jobs, words",
    [(2, 9000, 2, ""), (8, 5000, 2, "enough for 2 of 8 cores"), (2, 900, 1, "Only 900 MB of memory are free")],
)
def test_compilers_at_a_time(cores, free, jobs, words):
    done = subprocess.run([ROOT / "tools" / "jobs", str(cores), str(free)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{jobs}\n"
    assert words in done.stderr and bool(words) == bool(done.stderr)


def test_the_demo_builds_the_library_alone():
    graph = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "inputs", "library"], capture_output=True, text=True, check=True
    ).stdout
    sources = [line for line in graph.splitlines() if line.endswith((".cpp", ".cxx"))]
    assert any(line.endswith("python/src/module.cpp") for line in sources)
    assert any(line.endswith("src/immortal.cpp") for line in sources)
    outside = [
        s
        for s in sources
        if s.startswith(f"{ROOT}/") and not re.match(r"(src|python/src|build)/", s[len(f"{ROOT}/") :])
    ]
    assert not outside + [s for s in sources if s.endswith("_test.cpp")]
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    assert "tools/check library" in recipe and "tools/check build" not in recipe
    assert "build.targets=library" in (ROOT / "tools" / "check").read_text()


def test_no_source_is_compiled_twice():
    # Parts of small programs that link nothing of the library, and the text of docstrings, a small part of the extension that
    # the program for the generators has too.
    # The backend for Triton has JSON of its own.
    alone = {"src/base/error.cpp", "src/base/json.cpp", "src/immortal.cpp", "python/src/docstring.cpp"}
    graph = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "inputs", "all"], capture_output=True, text=True, check=True
    ).stdout
    built = set(graph.splitlines())
    objects = collections.defaultdict(set)
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        written = re.search(r" -o (\S+) ", entry["command"])[1]
        if written in built or f"{entry['directory']}/{written}" in built:
            objects[entry["file"].removeprefix(f"{ROOT}/")].add(written)
    assert len(objects) > 100
    again = {file: sorted(those) for file, those in objects.items() if len(those) > 1 and file not in alone}
    assert not again


def test_the_demo_ends_with_three_lines(tmp_path, monkeypatch, capsys):
    (tmp_path / "photos" / "class").mkdir(parents=True)
    for i in range(3):
        noise = np.random.default_rng(i).integers(0, 256, (60, 80, 3), np.uint8)
        Image.fromarray(noise).save(tmp_path / "photos" / "class" / f"{i}.jpg")
    monkeypatch.syspath_prepend(ROOT / "examples" / "demo")
    demo = importlib.import_module("main")
    monkeypatch.setattr(demo, "SECONDS", 0.05)
    monkeypatch.setattr(sys, "argv", ["main.py", str(tmp_path / "photos")])
    monkeypatch.chdir(tmp_path)
    demo.main()
    picture, speed, following = capsys.readouterr().out.splitlines()[-3:]
    assert picture == f"picture: {tmp_path / 'demo.png'}" and Image.open(tmp_path / "demo.png").size[0] > 100
    assert re.fullmatch(r"speed: \d+ images a second", speed)
    named = re.search(r"docs/\S+\.md", following)[0]
    assert following.startswith("next: ") and (ROOT / named).exists()
