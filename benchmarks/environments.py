# SPDX-License-Identifier: Apache-2.0
"""Where each peer's interpreter is, and what the environments of the peers need.

python benchmarks/environments.py install [PEER ...]
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = {  # peer: (its environment, what `make bench` installs there; None: made by `make test`)
    "penstock": (".venv", None),
    "dali": (".venv-dali", None),
    "opencv": (".venv-peers/opencv", ["numpy==2.4.6", "opencv-python-headless==5.0.0.93", "simplejpeg==1.9.0"]),
    "torchvision": (
        ".venv-peers/torchvision",
        ["numpy==2.4.6", "pillow==13.0.0", "torch==2.13.0", "fsspec==2026.9.0", "aiohttp==3.14.5"],
    ),
    "torchcodec": (".venv-peers/torchcodec", ["numpy==2.4.6", "torch==2.13.0"]),
    "tf": (".venv-peers/tf", ["tensorflow-cpu==2.21.0"]),
    "datasets": (".venv-peers/datasets", ["numpy==2.4.6", "datasets==5.2.0"]),
}
# They pin a CUDA build of torch's dependencies; torchcodec's wheels of 0.14 and later need one to load.
WITHOUT_DEPENDENCIES = {"torchvision": ["torchvision==0.28.0"], "torchcodec": ["torchcodec==0.11.1"]}


def python_of(peer):
    """The interpreter of a peer, or None if its environment does not exist."""
    override = os.environ.get(f"PENSTOCK_{peer.upper()}_PYTHON")
    python = Path(override) if override else ROOT / PEERS[peer][0] / "bin" / "python"
    return str(python) if python.exists() else None


def install(peer):
    folder, packages = PEERS[peer]
    complete = ROOT / folder / "installed"  # written last: an install that was cut short is done again
    wanted = "\n".join([*(packages or []), *WITHOUT_DEPENDENCIES.get(peer, [])])
    if packages is None or complete.exists() and complete.read_text() == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", ROOT / folder], check=True)
    pip = [ROOT / folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, *packages], check=True)
    if peer in WITHOUT_DEPENDENCIES:
        subprocess.run([*pip, "--no-deps", *WITHOUT_DEPENDENCIES[peer]], check=True)
    complete.write_text(wanted)


if __name__ == "__main__":
    if sys.argv[1:2] != ["install"]:
        raise SystemExit(__doc__)
    for name in sys.argv[2:] or PEERS:
        install(name)
