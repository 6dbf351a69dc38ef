# SPDX-License-Identifier: Apache-2.0
"""Compiles each header as a source of its own: it must include or declare what it uses.

    python tools/headers_alone.py [HEADER...]      needs build/compile_commands.json, which any build writes

Several compilers run at once. A header that compiled is not compiled again until it, or a header of ours that it includes,
changes: build/headers_alone.json has their hashes. A header that a source or another header includes first needs no check:
that source's or header's compilation is one. Of several sources that are compiled as one, the first counts. Textual parts (*.inc.h) and what only a GPU's compiler reads (OTHERS)
are not headers of their own.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repository import ROOT, tracked

STAMPS = ROOT / "build" / "headers_alone.json"
INCLUDED = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
OTHERS = tuple(
    f"src/cuda/{name}.h"
    for name in (
        "jpeg/color_rows",
        "jpeg/decode",
        "jpeg/device",
        "jpeg/huffman_lookup",
        "jpeg/kernels",
        "jpeg/reconstruct",
        "jpeg/restarts",
        "jpeg/scan",
        "jpeg/synchronize",
        "jpeg/unstuff",
        "video/convert",
    )
)


def headers():
    names = (name for name in tracked() if name.endswith((".h", ".hpp")))
    return [name for name in names if not name.endswith(".inc.h") and not name.startswith(OTHERS)]


def first_include(path):
    """The name, if the first #include of a file is one of ours."""
    text = path.read_text()
    found = re.search(r'^#include "([^"]+)"', text, re.MULTILINE)
    return found.group(1) if found and found.start() == text.index("#include") else None


def included_first(entries):
    """Headers that a compile command reads before anything else, also by way of other headers."""
    for entry in entries:
        path = Path(entry["file"])
        if path.name.startswith("unity_") and path.is_file():  # several sources as one: the first of them counts
            path = Path(first_include(path) or path)
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build") and path.is_file():
            yield from begun_by(path)


def begun_by(path):
    """The header that a file begins with, the one that this header begins with, and so on."""
    begun = set()  # ends circles
    while (name := first_include(path)) and (ROOT / "src" / name).is_file() and name not in begun:
        path = ROOT / "src" / name
        begun.add(name)
        yield "src/" + name


def commands(entries):
    """Compile commands by the folder of the source."""
    return {str(Path(e["file"]).parent.relative_to(ROOT)): e for e in entries if Path(e["file"]).is_relative_to(ROOT)}


OF_OPENCV = {"include/penstock/opencv.hpp", "include/penstock/opencv_cuda.hpp", "tests/opencv_checks.h"}


def flags_for(name, of_folder):
    """Those of a source in the same folder, or in one above, or of any."""
    folder = Path(name).parent
    entry = next(
        (of_folder[str(f)] for f in (folder, *folder.parents) if str(f) in of_folder), next(iter(of_folder.values()))
    )
    words = shlex.split(entry["command"])
    if Path(words[0]).name == "ccache":
        words = words[1:]
    kept = [words[0]] + [w for w in words[1:] if re.match(r"-(?:I|D|std=)", w)]
    at = [i for i, w in enumerate(words) if w == "-isystem"]
    # Headers of kernels, as their unit test compiles them.
    if name.startswith(("src/cuda/", "src/families/", "src/launch/")) and re.search(
        "__device__|__shared__|PENSTOCK_HD", (ROOT / name).read_text()
    ):
        kept += ["-include", str(ROOT / "tests/emulated_gpu/one_thread.h")]
    if name in OF_OPENCV:
        kept += ["-isystem", "/usr/include/opencv4"]  # where Debian has OpenCV
    return kept + [w for i in at for w in ("-isystem", words[i + 1])], entry["directory"]


class Stamps:
    """A hash of each header with all of ours that it includes."""

    def __init__(self):
        self.old = json.loads(STAMPS.read_text()) if STAMPS.exists() else {}
        self.closures = {}

    def closure(self, path):
        if path not in self.closures:
            self.closures[path] = set()  # ends circles
            text, found = path.read_text(), {path}
            for name in INCLUDED.findall(text):
                for folder in (ROOT / "src", ROOT / "include", ROOT / "tests", ROOT / "python/src", path.parent):
                    if (folder / name).is_file():
                        found |= self.closure((folder / name).resolve())
                        break
            self.closures[path] = found
        return self.closures[path]

    def of(self, name, flags):
        digest = hashlib.sha256(" ".join(flags).encode())
        for path in sorted(self.closure(ROOT / name)):
            digest.update(path.read_bytes())
        return digest.hexdigest()


def compiled(name, flags, folder):
    """What the compiler says, or nothing."""
    c_header = name.endswith("penstock.h")
    command = [
        *flags,
        "-fsyntax-only",
        "-w",
        "-I",
        str(ROOT / "tests"),
        "-x",
        "c" if c_header else "c++",
        str(ROOT / name),
    ]
    if c_header:
        command = [word for word in command if not word.startswith("-std=")]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def breaches(names=None):
    """For tools/lint.py: FILE, line, what."""
    entries = json.loads((ROOT / "build" / "compile_commands.json").read_text())
    stamps, of_folder, proven = Stamps(), commands(entries), set() if names else set(included_first(entries))
    work, new = [], {}
    wanted = names or sorted(set(headers()) - proven)
    begun = set() if names else {header for name in wanted for header in begun_by(ROOT / name)}
    for name in sorted(set(wanted) - begun):
        flags, folder = flags_for(name, of_folder)
        stamp = stamps.of(name, flags)
        if stamps.old.get(name) == stamp and not names:
            new[name] = stamp
        else:
            work.append((name, flags, folder, stamp))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _, _, stamp), said in zip(work, pool.map(lambda w: compiled(*w[:3]), work)):
            if not said:
                new[name] = stamp
                continue
            error = next((line for line in said.splitlines() if " error: " in line), said.strip())
            yield ROOT / name, 0, f"does not compile alone: {error}"
    if not names:
        STAMPS.write_text(json.dumps(new, indent=0))


def main():
    found = list(breaches(sys.argv[1:]))
    for path, _, what in found:
        print(f"{path.relative_to(ROOT)}: {what}")
    print(f"headers_alone: {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
