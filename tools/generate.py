# SPDX-License-Identifier: Apache-2.0
"""Writes the files that follow from the registry of operators and from the tree; they are checked in and a person reads their diff.

    python tools/generate.py                  write every kind
    python tools/generate.py cpp              write one kind
    python tools/generate.py --check          write nothing; end with 1 if a file is out of date

The facts come from build/dump_registry, which CMake builds; --registry FILE reads its output from a file instead.
A kind is a function of the operators that returns {path in the repository: text}; its module is tools/generate_<kind>.py. A module
whose MADE_FROM is "settings" or "formats" receives those instead.
"""

import argparse
import difflib
import importlib
import json
import subprocess
import sys
from pathlib import Path

from repository import ROOT

JOINED = {  # Python functions that call two operators of the registry, one after the other
    "readers.video_resize": (
        "readers.video",
        "resize",
        {"save_attrs"},
        "readers.video and resize in one call: the arguments of both; `dtype` and `image_type` are the reader's.",
    )
}
KINDS = sorted(path.stem.removeprefix("generate_") for path in Path(__file__).parent.glob("generate_*.py"))


def read_registry(file=None):
    """The operators and the settings, as tools/dump_registry.cpp prints them."""
    if file:
        return json.loads(Path(file).read_text())
    program = ROOT / "build" / "dump_registry"
    if not program.exists():
        sys.exit(f"{program.relative_to(ROOT)} is missing: build first (tools/check build)")
    return json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def with_joined(operators):
    """The operators, and the Python functions that combine two of them."""
    known = {o["name"]: o for o in operators}
    made = []
    for name, (first, second, without, doc) in JOINED.items():
        taken = {a["name"] for a in known[first]["arguments"]} | without
        arguments = known[first]["arguments"] + [a for a in known[second]["arguments"] if a["name"] not in taken]
        made.append(
            {
                **known[first],
                "name": name,
                "doc": doc + "\n\n" + known[first]["doc"],
                "docstring": doc,
                "arguments": arguments,
                "oracle": known[first]["oracle"],
            }
        )
    return sorted([*operators, *made], key=lambda o: o["name"])


def generate(kind, registry):
    """{path in the repository: text} of one kind."""
    module = importlib.import_module(f"generate_{kind}")
    facts = registry[getattr(module, "MADE_FROM", "operators")]
    if facts is registry["operators"] and kind != "cpp":  # C++ calls the two
        facts = with_joined(facts)
    return module.generate(facts)


def out_of_date(path, text):
    old = path.read_text() if path.exists() else ""
    if old == text:
        return ""
    name = str(path.relative_to(ROOT))
    lines = difflib.unified_diff(old.splitlines(), text.splitlines(), name, f"{name} (generated)", lineterm="", n=0)
    return "\n".join(list(lines)[:20])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--registry", help="output of dump_registry")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"no kind {', '.join(sorted(unknown))}: {', '.join(KINDS)}")
    registry = read_registry(options.registry)
    stale = []
    for kind in options.kinds or KINDS:
        for name, text in generate(kind, registry).items():
            path = ROOT / name
            if difference := out_of_date(path, text):
                stale.append(name)
                if options.check:
                    print(difference)
                else:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
                    print(f"wrote {name}")
    if options.check and stale:
        print(f"run `python tools/generate.py`: {', '.join(stale)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
