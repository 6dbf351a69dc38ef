# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept the pages' programs and the examples, as far as these say of what types their own values are."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import page_programs
import penstock
import pytest

LONG = "PENSTOCK_TEST_COUNT" in os.environ
ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorial").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "how_to").glob("*.md")) if LONG else [ROOT / "docs/how_to/train_with_torch.md"]
EXAMPLES = sorted(p for p in (ROOT / "examples").rglob("*.py") if "from_dali" not in p.parts)
if not LONG:
    EXAMPLES = [ROOT / "examples" / name for name in ("resnet50.py", "speech.py", "demo/main.py", "demo/boxes.py")]
    EXAMPLES += [ROOT / "examples/demo/shapes.py", ROOT / "examples/demo/data.py"]
# What the reader adds: an operator of a plug-in, a reader.
ADDED = ("duotone", "pack")
# What the stubs of torch, onnx and Python say of the examples: (file, a part of the message).
OF_OTHERS = [
    ("client.py", "dict[str, int]"),
    ("onnxruntime_inference.py", "from_array"),
    ("onnxruntime_inference.py", "iter2"),
    ("resnet50.py", "from_dlpack"),
    ("resnet50.py", '"None"'),
    ("resnet50.py", "Tensor | float"),
    ("several_gpus.py", "spawn"),
    ("several_gpus.py", "str | None"),
    ("speech.py", '"Tensor" not callable'),
    ("ssd.py", "loss_of"),
    ("ssd.py", "4 positional"),
    ("textures.py", "write_folder"),
    ("with_accelerate.py", "_custom_objects"),
    ("with_accelerate.py", "Mapping[Unknown, Unknown]"),
    ("with_accelerate.py", 'for class "bool"'),
    ("with_lightning.py", "Trainer | None"),
    ("with_lightning.py", "Module"),
    ("with_lightning.py", "on_train_batch_end"),
    ("yolo.py", "draw_boxes"),
    ("seeds_yolo.py", "cuda"),
    ("seeds_yolo.py", "No parameter named"),  # its own decorator of DALI, which is not typed
]
# Functions of a page say nothing of their parameters, and libraries that are not installed are of any type.
# In each file and not as options: mypy's cache is of one set of options, and tests/test_types.py uses it too.
MYPY = """# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-subclassing-any, allow-redefinition
# mypy: disable-error-code="no-redef,var-annotated,import-not-found,import-untyped,unused-ignore"
"""
PYRIGHT = "MissingImports MissingModuleSource MissingTypeStubs MissingParameterType UntypedFunctionDecorator"
PYRIGHT += " UntypedBaseClass Redeclaration UnusedExpression UnusedImport PossiblyUnboundVariable"
PYRIGHT += " UnknownParameterType UnknownArgumentType UnknownVariableType UnknownMemberType UnknownLambdaType"
PYRIGHT += " OptionalMemberAccess UnusedVariable"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "outside.pyi").write_text(page_programs.OUTSIDE)
    for page in PAGES:
        for k, program in enumerate(page_programs.programs(page.read_text())):
            (folder / f"{page.stem.lower()}_{k}.py").write_text(MYPY + program)
    for example in EXAMPLES:
        name = {"penstock": "model"}.get(example.stem, example.stem)  # of a model's folder
        name = f"seeds_{name}.py" if example.parent.name == "seeds" else f"{name}.py"
        (folder / name).write_text(MYPY + example.read_text())
    return folder


def _of_the_stubs(said):
    """What remains of (file, message) without what the reader adds and what others' stubs say."""
    return [
        (file, message)
        for file, message in said
        if not any(re.search(rf'"{name}"', message) for name in ADDED)
        and not any(file == other and part in message for other, part in OF_OTHERS)
    ]


def test_mypy_accepts_pages_and_examples(folder):
    cache = Path(os.environ.get("XDG_CACHE_HOME", ROOT / "build")) / "mypy"
    at = str(Path(penstock.__file__).parent.parent)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--follow-imports=silent",
            "--cache-dir",
            cache,
            *sorted(p.name for p in folder.glob("*.py")),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **({} if "site-packages" in at else {"MYPYPATH": at})},
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said = _of_the_stubs(re.findall(r"^([\w.]+\.py)(?=:\d+: error)(:.*)$", done.stdout, re.MULTILINE))
    assert not said, "\n".join(map("".join, said))


def _pyright_accepts_pages_and_examples(folder):
    settings = {
        "typeCheckingMode": "strict",
        "include": ["*.py"],
        "extraPaths": [str(Path(penstock.__file__).parents[1])],
    }
    settings |= {f"report{name}": "none" for name in PYRIGHT.split()}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "-p", folder, "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said = [
        (Path(d["file"]).name, f":{d['range']['start']['line'] + 1}: {d['message']}")
        for d in json.loads(done.stdout)["generalDiagnostics"]
        if d["severity"] == "error"
    ]
    said = _of_the_stubs(said)
    assert not said, "\n".join(map("".join, said))


if LONG:  # tests/test_types.py asks pyright of the first page, the tutorial and six examples
    test_pyright_accepts_pages_and_examples = _pyright_accepts_pages_and_examples
