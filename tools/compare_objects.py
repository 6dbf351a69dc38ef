# SPDX-License-Identifier: Apache-2.0
"""Compiles sources of this tree and of another revision, and compares the object files byte by byte.

    python tools/compare_objects.py REVISION [SOURCE...]      needs build/compile_commands.json, which any build writes

Without sources: all of src and python/src, one by one. The other revision is in
build/compared meanwhile. tools/form.py --same answers the same question for formatters in seconds.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repository import ROOT

OTHER = ROOT / "build" / "compared"


def command_for(source, entries):
    """Its own, or that of a neighbor where several sources are compiled as one."""
    path = ROOT / source
    for folder in (path, *path.parents):
        for entry in entries:
            if Path(entry["file"]) == path or (folder != path and folder in Path(entry["file"]).parents):
                return shlex.split(entry["command"]), entry["directory"], Path(entry["file"])
    raise SystemExit(f"no command compiles {source}")


def compiled(source, tree, entries):
    """The bytes of the object file of tree's `source`."""
    words, folder, named = command_for(source, entries)
    target = OTHER / "objects" / tree.name / (source.replace("/", "_") + ".o")
    target.parent.mkdir(parents=True, exist_ok=True)
    source_file = tree / source
    drop = {"-MD", "-MT", "-MF"}
    kept, skip = [], False
    for word, before in zip(words, ["", *words]):
        skip = word in drop or before in ("-MT", "-MF")
        if not skip:
            kept.append(word)
    kept[kept.index("-o") + 1] = str(target)
    kept = [
        str(source_file)
        if Path(word) == named
        else word.replace(str(ROOT / "src"), str(tree / "src"))
        .replace(str(ROOT / "include"), str(tree / "include"))
        .replace(str(ROOT / "tests"), str(tree / "tests"))
        .replace(str(ROOT / "python"), str(tree / "python"))
        if word.startswith(("-I", "-isystem"))
        else word
        for word in kept
    ]
    subprocess.run([*kept, "-g0", "-w", f"-ffile-prefix-map={tree}=."], cwd=folder, check=True)
    return target.read_bytes()


def main():
    revision, *sources = sys.argv[1:]
    entries = json.loads((ROOT / "build" / "compile_commands.json").read_text())
    if not sources:
        listed = subprocess.run(
            ["git", "ls-files", "src/*.cpp", "python/src/*.cpp"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split()
        sources = listed
    tree = OTHER / "before"
    subprocess.run(["git", "worktree", "add", "--quiet", "--force", "--detach", tree, revision], cwd=ROOT, check=True)
    try:

        def equal(source):
            return compiled(source, ROOT, entries) == compiled(source, tree, entries)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            differing = [source for source, same in zip(sources, pool.map(equal, sources)) if not same]
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)
    for source in differing:
        print(f"{source}: another object file than at {revision}")
    print(f"compare_objects: {len(sources)} sources, {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
