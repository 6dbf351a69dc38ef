# SPDX-License-Identifier: Apache-2.0
"""The programs of the page about other loaders, with those libraries from a folder of their own, and what they made."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how_to" / "use_with_other_loaders.md"
FOLDERS = [str(Path(sys.prefix) / name) for name in ("loaders", "transformers")]  # tools/requirements/loaders.txt
# What each section has made, and what of it Penstock alone gives.
CHECKS = {
    "torchdata": """
want = [float(batch["image"].float().mean()) for batch in DataLoader(photos())]
assert means == want and len(means) == 3
first = iter(batches)
next(first)
state, rest = batches.state_dict(), list(first)
again = Loader(Mapper(Photos(), lambda batch: batch["image"].float().mean()))
again.load_state_dict(state)
assert list(again) == rest and len(rest) == 2
""",
    "SPDL": "assert count == 20",
    "webdataset": """
import tarfile
assert len(tarfile.open("photos.tar").getnames()) == 40
assert images.as_array().shape == (8, 64, 64, 3) and {bytes(c.numpy()) for c in classes} == {b"0", b"1"}
""",
    "Hugging Face datasets": """
assert [int(label.numpy()) for label in labels] == dataset["label"][:8] != list(range(8))
for k in range(8):
    np.testing.assert_array_equal(images[k].numpy(), decoded(files[dataset["label"][k]]))
""",
}
ELSEWHERE = ["Grain"]  # tests/frameworks/test_pages.py: JAX is in another environment


def sections():
    """The program of each section; the first one has what all need."""
    found = {}
    for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE):
        blocks = re.findall(r"^```python\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
        if blocks:
            found[part.partition("\n")[0]] = "\n".join(blocks)
    return found


def test_each_section_is_checked():
    assert list(sections())[1:] == [*CHECKS, *ELSEWHERE]


def test_the_programs(tmp_path):
    """All in one process, as sections use what those before have made, and torch takes seconds to import."""
    random = np.random.default_rng(3)
    for k in range(20):
        path = tmp_path / "photos" / "ab"[k % 2] / f"{k:02}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(random.integers(0, 256, (20 + k, 30, 3), np.uint8)).save(path)
    programs = {name: blocks for name, blocks in sections().items() if name not in ELSEWHERE}
    program = [part for name, blocks in programs.items() for part in (blocks, CHECKS.get(name, ""))]
    (tmp_path / "program.py").write_text("\n".join(program))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*FOLDERS, *sys.path]), "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
