# SPDX-License-Identifier: Apache-2.0
"""Where this repository is, and which files it has: asked of git once."""

import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@functools.cache
def listed():
    """The names that git tracks, and those that are new and not ignored; symbolic links and deleted files too."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted({name for name in said.split("\0") if name})


@functools.cache
def tracked():
    """Those of them that are files, without third_party/."""
    return [name for name in listed() if not name.startswith("third_party/") and (ROOT / name).is_file()]
