# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/from_dali, which do not mention Penstock: ten of them, and with PENSTOCK_TEST_COUNT all of them, by
Penstock and, where DALI has what they need on a CPU, by DALI itself."""

import re
import subprocess
import sys
from pathlib import Path

import dali_oracle
import pytest
from conftest import EXAMPLES

PROGRAMS = Path(__file__).resolve().parents[1] / "examples" / "from_dali"
NAMES = sorted(file.stem for file in PROGRAMS.glob("*.py") if file.stem != "small_data")
SHORT = [
    "checkpointing",
    "coco_reader",
    "conditionals",
    "debug_mode",
    "expr_examples",
    "external_input",
    "record_readers",
    "resize",
    "script_resnet50_convnets",
    "serialization",
]
# What DALI needs a GPU or a package for that its environment here does not have.
NOT_ON_DALI = {name for name in NAMES if name.startswith(("pytorch_", "script_resnet50_", "video_"))} | {
    "debug_mode",
    "numba_function",
    "remap",
    "script_super_resolution",
}

# All in one process, each as `__main__`, as `python -m penstock.dali` runs it: NumPy and torch are loaded once.
RUN = """
import sys
import penstock.dali
from penstock.dali.script import run
penstock.dali.install()
for path in sys.argv[1:]:
    run([path])
"""


def run(python, *arguments):
    done = subprocess.run([python, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ten_programs_run():
    assert len(SHORT) == 10 and set(SHORT) < set(NAMES)
    said = run(sys.executable, "-c", RUN, *(PROGRAMS / f"{name}.py" for name in SHORT))
    assert len(said.splitlines()) == 10


def test_readme_names_each_program_and_no_other():
    readme = (PROGRAMS / "README.md").read_text()
    assert sorted(re.findall(r"^\| \[(\w+)\]\(\1\.py\)", readme, re.M)) == NAMES
    assert set(re.findall(r"^\| \[(\w+)\].*\| CPU \|$", readme, re.M)) == set(NAMES) - NOT_ON_DALI
    assert not any(
        "penstock" in (PROGRAMS / f"{name}.py").read_text() for name in NAMES if name != "pytorch_various_readers"
    )


if EXAMPLES:

    @pytest.mark.parametrize("name", NAMES)
    def test_program_runs(name):
        assert len(run(sys.executable, "-m", "penstock.dali", PROGRAMS / f"{name}.py").splitlines()) == 1

    @pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_ON_DALI])
    def test_dali_itself_runs_it(name, oracle):
        assert len(run(dali_oracle.interpreter(), PROGRAMS / f"{name}.py").splitlines()) == 1
