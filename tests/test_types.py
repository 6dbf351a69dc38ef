# SPDX-License-Identifier: Apache-2.0
"""What type checkers say: nothing of the pages and of six examples, and the right thing of common mistakes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import penstock

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = [
    "examples/demo/data.py",
    "examples/demo/main.py",
    "examples/demo/shape_folders.py",
    "examples/demo/shapes.py",
    "examples/seeds/blur.py",
    "examples/seeds/mask.py",
]
# What a page takes for granted, before its blocks.
PAGES = {
    "README.md": """# pyright: basic
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
""",
    "docs/tutorial/first_pipeline.md": """
from typing import Any
import numpy as np
image_a, image_b = np.zeros((48, 64, 3), np.uint8), np.zeros((60, 40, 3), np.uint8)
def step(images: Any, labels: Any) -> float:
    return float(images.sum() + labels.sum())
""",
}
KINDS = """
from typing import Any
from typing_extensions import assert_type
import numpy as np
from numpy.typing import NDArray
import torch
from penstock import Batch, DataNode, Pipeline, Tensor, albumentations, dali, fn, pipeline_def, types
from penstock.plugin.interface import Step
from penstock.torch import DataLoader

def outside(batch: Batch, tensor: Tensor, array: NDArray[np.uint8]) -> None:
    assert_type(fn.flip(batch), Batch)
    assert_type(fn.flip(tensor), Tensor)
    assert_type(fn.flip(array), NDArray[Any])
    assert_type(fn.resize(batch, size=[8, 8]), Batch)
    assert_type(fn.resize(batch, size=[8, 8], save_attrs=True), tuple[Batch, Batch])
    assert_type(fn.random.uniform(range=[0.0, 1.0], batch_size=3), Batch)
    assert_type(fn.box_encoder(tensor, tensor, anchors=[0.0, 0.0, 1.0, 1.0]), tuple[Tensor, Tensor])
    assert_type(batch * 2 + 1, Batch)
    assert_type(batch[0], Tensor)

@pipeline_def(batch_size=2)
def inside(folder: str) -> DataNode:
    jpegs, labels = fn.readers.file(file_root=folder)
    assert_type(jpegs, DataNode)
    assert_type(labels, DataNode)
    images = fn.decoders.image(jpegs, output_type=types.RGB)
    assert_type(images, DataNode)
    assert_type(fn.rotate(images, angle=fn.random.uniform(range=[0.0, 9.0])), DataNode)
    assert_type(fn.resize(images, size=images.shape()[:2], interp_type=types.INTERP_CUBIC), DataNode)
    assert_type(fn.external_source(source=lambda: [np.zeros(3)], batch=True), DataNode)
    assert_type((1 - images / 2) > 3, DataNode)
    return images

assert_type(inside("photos"), Pipeline[tuple[Batch]])
assert_type(inside("photos").run(), tuple[Batch])
assert_type(inside(folder="photos"), Pipeline[tuple[Batch]])
assert_type(inside("photos", batch_size=3, seed=1), Pipeline[tuple[Batch]])
assert_type(inside(folder="photos", max_pixels=3), Pipeline[tuple[Batch]])
for batches in inside("photos"):
    assert_type(batches, tuple[Batch])

@pipeline_def
def several() -> tuple[DataNode, DataNode, DataNode]:
    return fn.random.uniform(), fn.random.uniform(), fn.random.normal()

@pipeline_def(batch_size=2)
def named() -> dict[str, DataNode]:
    return {"a": fn.random.uniform()}

@pipeline_def(batch_size=2)
def nested() -> dict[str, list[DataNode]]:
    return {"a": [fn.random.uniform()]}

a, b, c = several(batch_size=3).run()
assert_type(c, Batch)
assert_type(named().run()["a"], Batch)
assert_type(nested().run(), Any)
assert_type(Pipeline(batch_size=2).run(), tuple[Batch, ...])
assert_type(Pipeline.deserialize(b"").run(), Any)
assert_type(a.as_array(), NDArray[Any])
assert_type(a.at(0), NDArray[Any])
assert_type(a[0].item(), bool | int | float)
assert_type(a.torch(), torch.Tensor)
assert_type(-a, Batch)

def trained(pipeline: Pipeline, of_two: Pipeline[tuple[Batch, Batch]]) -> None:
    assert_type(pipeline.run(), tuple[Batch, ...])
    assert_type(of_two.run()[1], Batch)
    DataLoader(of_two, ["a", "b"])

trained(inside("photos"), several())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  three are not two
settings: dict[str, Any] = {"seed": 3}

@pipeline_def(batch_size=2, enable_conditionals=True, **settings)
def scaled(*factors: float, **more: int) -> list[DataNode]:
    return [fn.random.uniform(range=[0.0, factor]) for factor in factors]

assert_type(scaled(1.0, 2.0, a=3), Pipeline[tuple[Batch, ...]])
assert_type(scaled(1.0, a=3, num_threads=2, **settings), Pipeline[tuple[Batch, ...]])
info = inside("photos").driver(epochs="even").output_infos()[0]
assert_type(info.ndim, int | None)
assert_type(inside("photos").driver().run(), Step)
dtype: types.DType = types.FLOAT
chain = albumentations.Compose([albumentations.Affine(scale=(0.9, 1.1), rotate=10), albumentations.Resize(8, width=8)])
assert_type(chain(image=a.as_array()), dict[str, Any])
assert_type(dali.fn.resize(a, size=[8, 8]), Batch)
assert_type(dali.fn.experimental.remap(a, a, a), Batch)
assert_type(dali.fn.file_reader(file_root="photos"), tuple[DataNode, DataNode])
assert_type(dali.fn.experimental.decoders.image(a), Batch)
assert_type(inside("photos").stats().verdict, Any)
"""
KINDS_OF_DALI = """
from typing import Any
from typing_extensions import assert_type
from penstock import Batch, DataNode
from penstock.dali import Pipeline, fn, pipeline_def, types

@pipeline_def(max_batch_size=2, num_threads=1, device_id=None)
def training(folder: str, size: int = 3) -> tuple[DataNode, DataNode]:
    jpegs, labels = fn.readers.file(file_root=folder, name="Reader")
    return fn.decoders.image(jpegs, output_type=types.RGB), labels

@pipeline_def
def shared(batch_size: int) -> tuple[DataNode]:
    return (fn.random.uniform(range=[0.0, float(batch_size)]),)

pipe = training("photos", batch_size=3)
assert_type(pipe, Pipeline[tuple[Batch, Batch]])
assert_type(pipe.run(), tuple[Batch, Batch])
assert_type(training("photos", 5), Pipeline[tuple[Batch, Batch]])
assert_type(training(folder="photos", max_batch_size=3, seed=1).output_stream(), int | None)
assert_type(shared(batch_size=3), Pipeline[tuple[Batch]])
assert_type(Pipeline(batch_size=2).run(), tuple[Batch, ...])
assert_type(Pipeline.deserialize(b""), Pipeline[Any])
pipe.deserialize_and_build(b"")
pipe.enable_api_check(False)
"""
KINDS_OF_CVCUDA = """
from typing import Any
from typing_extensions import assert_type
import numpy as np
from penstock import cvcuda

tensor = cvcuda.as_tensor(np.zeros((2, 8, 8, 3), np.uint8), "NHWC")
images = cvcuda.as_images([np.zeros((8, 8, 3), np.uint8)])
assert_type(tensor, cvcuda.Tensor)
assert_type(cvcuda.resize(tensor, (2, 4, 4, 3), cvcuda.Interp.CUBIC), cvcuda.Tensor)
assert_type(cvcuda.resize(images, [(4, 4)]), cvcuda.ImageBatchVarShape)
assert_type(cvcuda.cvtcolor_into(tensor, tensor, cvcuda.ColorConversion.BGR2RGB), cvcuda.Tensor)
assert_type(cvcuda.stack(images), cvcuda.Tensor)
assert_type(cvcuda.split(tensor), tuple[cvcuda.Tensor, ...])
assert_type(cvcuda.gaussian(tensor, (3, 3), (1.0, 1.0), cvcuda.Border.REFLECT), cvcuda.Tensor)
assert_type(cvcuda.convertto(tensor, cvcuda.Type.F32, 1 / 255), cvcuda.Tensor)
assert_type(cvcuda.RGB8, cvcuda.Format)
assert_type(tensor.cpu().shape, tuple[Any, ...])
assert_type(cvcuda.customcrop(tensor, cvcuda.RectI(0, 0, 4, 4)), cvcuda.Tensor)
with cvcuda.Stream() as stream:
    cvcuda.flip(tensor, 1, stream=stream)
cvcuda.warp_affine(tensor, np.eye(3), cvcuda.Interp.LINEAR | cvcuda.Interp.WARP_INVERSE_MAP, border_value=[0.0])
cvcuda.normalize(tensor, tensor, tensor, cvcuda.NormalizeFlags.SCALE_IS_STDDEV)
cvcuda.morphology(tensor, cvcuda.MorphologyType.ERODE, (3, 3), (-1, -1), workspace=tensor)
"""
MISTAKES = """
from penstock import Batch, DataNode, albumentations, cvcuda, dali, fn, pipeline_def, types
def f(batch: Batch) -> None:
    fn.flip(batch, horizontl=1)  # 1: there is no such argument
    fn.resize(batch, size=[8, 8], interp_type="smooth")  # 2: there is no such filter
    fn.rotate(batch)  # 3: the angle is required
    fn.resize(batch, [8, 8])  # 4: arguments are given by name
    types.FLOAT31  # 5: there is no such type
    fn.flipp(batch)  # 6: there is no such operator

@pipeline_def(batch_size=2)
def loaded(folder: str, size: int = 3) -> DataNode:
    return fn.decoders.image(fn.readers.file(file_root=folder)[0])

@pipeline_def
def bare(folder: str) -> DataNode:
    return fn.decoders.image(fn.readers.file(file_root=folder)[0])

loaded()  # 1: the function needs a folder
loaded(3)  # 2: which is text
loaded("photos", siz=3)  # 3: neither the function nor Pipeline has such an argument
loaded("photos", size="3")  # 4: of the wrong type
loaded("photos", batch_size="3")  # 5: an argument of Pipeline of the wrong type
loaded(folder="photos", late="never")  # 6: an argument of Pipeline without such a choice
bare(folder=3, size=2)  # 7: not an argument of this one
pipeline_def(batchsize=2)  # 8: Pipeline has no such argument
pipeline_def(batch_size="2")  # 9: of the wrong type

@dali.pipeline_def(batch_size=2)
def of_dali(folder: str, size: int = 3) -> DataNode:
    return fn.decoders.image(fn.readers.file(file_root=folder)[0])

of_dali()  # 1: the function needs a folder
of_dali("photos", siz=3)  # 2: neither the function nor Pipeline has such an argument
of_dali("photos", size="3")  # 3: of the wrong type
of_dali("photos", max_batch_size="3")  # 4: DALI's other name, of the wrong type
of_dali("photos").no_such()  # 5: a pipeline has no such method
dali.pipeline_def(batchsize=2)  # 6: Pipeline has no such argument
albumentations.Resize(breadth=8, width=8)  # 1: a name with a mistake
albumentations.HorizontalFlip(p="0.5")  # 2: of the wrong type
albumentations.HorizontalFlop()  # 3: there is no such transform
dali.fn.experimental.no_such(1)  # 4: there is no such operator

def g(tensor: cvcuda.Tensor) -> None:
    cvcuda.resize(tensor, (3, 3), cvcuda.Interp.QUADRATIC)  # 1: there is no such name
    cvcuda.resise(tensor)  # 2: there is no such function
    cvcuda.cvtcolor(tensor, cvcuda.Interp.LINEAR)  # 3: another enumeration
    cvcuda.flip(tensor)  # 4: the axis is required
    cvcuda.Type.U9  # 5: there is no such type
    cvcuda.reformat_into(tensor, tensor, layout="NCHW")  # 6: which dst answers
"""


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with the pages' programs, the kinds, the mistakes and links to the examples."""
    folder = tmp_path_factory.mktemp("types")
    for page, before in PAGES.items():
        assert blocks(page)
        (folder / f"{Path(page).stem}.py").write_text(before + "\n".join(blocks(page)))
    (folder / "kinds.py").write_text(KINDS)
    (folder / "kinds_of_dali.py").write_text(KINDS_OF_DALI)
    (folder / "kinds_of_cvcuda.py").write_text(KINDS_OF_CVCUDA)
    for example in EXAMPLES:
        (folder / Path(example).name).symlink_to(ROOT / example)
    (folder / "wrong").mkdir()
    (folder / "wrong" / "mistakes.py").write_text(MISTAKES)
    return folder


PACKAGES = Path(penstock.__file__).parent.parent  # mypy finds what is installed by itself, and refuses to be told


def said_by_mypy(folder, *names):
    cache = Path(os.environ.get("XDG_CACHE_HOME", ROOT / "build")) / "mypy"  # torch and NumPy take seconds, once
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", cache, *names],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **({} if "site-packages" in str(PACKAGES) else {"MYPYPATH": str(PACKAGES)})},
    )
    return done.returncode, done.stdout + done.stderr


def said_by_pyright(folder):
    (folder / "pyrightconfig.json").write_text(
        json.dumps(
            {
                "typeCheckingMode": "strict",
                "include": ["*.py"],
                "extraPaths": [str(Path(penstock.__file__).parent.parent)],
                "reportUnusedExpression": "none",
                "reportRedeclaration": "none",
            }
        )
    )
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "-p", folder, "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [
        (Path(d["file"]).name, d["range"]["start"]["line"], d["message"])
        for d in json.loads(done.stdout)["generalDiagnostics"]
        if d["severity"] == "error"
    ]


def lines_of_mistakes():
    return [k for k, line in enumerate(MISTAKES.splitlines()) if re.search(r"# \d: ", line)]


def test_mypy_strict_passes(programs):
    code, said = said_by_mypy(programs, *sorted(p.name for p in programs.glob("*.py")))
    assert code == 0, said


def test_pyright_strict_passes(programs):
    said = said_by_pyright(programs)
    assert not said, "\n".join(map(str, said))


def test_common_mistakes_are_errors_of_mypy(programs):
    code, said = said_by_mypy(programs / "wrong", "mistakes.py")
    found = {int(line) - 1 for line in re.findall(r"^mistakes.py:(\d+): error", said, re.MULTILINE)}
    assert code == 1 and found == set(lines_of_mistakes()), said


def test_common_mistakes_are_errors_of_pyright(programs):
    found = {line for _, line, _ in said_by_pyright(programs / "wrong")}
    assert found == set(lines_of_mistakes())
