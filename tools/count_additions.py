# SPDX-License-Identifier: Apache-2.0
"""Prints what an addition touches, as a table in Markdown: files that are new and files that are edited by hand.

    python tools/count_additions.py

A page that teaches an addition names the files that it types; tests/test_how_to.py types them into an unchanged tree and runs the
generic tests, so these files are all. For an addition without such a page an example in the tree is counted: the files that name it
in quotes, without those that are generated, tests of other things and documentation. `penstock/dali` is counted: a second name from
DALI's is an edit there.
"""

import re
import subprocess

from repository import ROOT

STEP = re.compile(r"^\*\*\d\. [^`\n]*`([\w./]+\.(?:cpp|h|py))`.*?^```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TAUGHT = {
    "pixel operator": "add_an_operator",
    "stencil operator": "add_a_window_operator",
    "image format": "add_an_image_format",
    "reader": "add_a_reader",
    "plug-in": "add_a_plugin",
}
EXAMPLES = {"warp operator": "rotate", "window operator": "erase", "whole operator": "equalize"}
COUNTED = ["src", "python/penstock", "tools", "tests/operators", "tests/readers", "CMakeLists.txt", "Makefile"]
# The site shows the example of an operator's page where gallery_calls.py has no other. The last ones have names of other
# libraries in quotes, and some are names of operators.
NOT_COUNTED = [
    ":!*_test.cpp",
    ":!*.pyi",
    ":!tools/count_additions.py",
    ":!tools/website/gallery_calls.py",
    ":!python/penstock/albumentations",
    ":!python/penstock/cvcuda",
    ":!python/penstock/dali/auto_aug",
]


def typed_files(page):
    """(path, text) of each file that a page types: a step names it, the block after the step is its text."""
    return STEP.findall(page.read_text())


def files_with(pattern, *where):
    found = subprocess.run(["git", "grep", "-lE", pattern, "--", *where], cwd=ROOT, capture_output=True, text=True)
    return sorted(found.stdout.split())


def rows():
    """(addition, new files, files edited by hand, how it was counted)."""
    for addition, page in TAUGHT.items():
        path = ROOT / "docs" / "how_to" / f"{page}.md"
        files = [file for file, _ in typed_files(path)] if path.exists() else []
        yield (
            (addition, files, [], f"`{page}.md`, typed by a test") if files else (addition, [], [], "no page types it")
        )
        if addition == "pixel operator":
            for other, name in EXAMPLES.items():
                named = files_with(f"[\"']{name}[\"']", *COUNTED, *NOT_COUNTED)
                new = [f for f in named if f == f"src/ops/{name}.cpp" or f.startswith("tests/operators/")]
                yield other, new, [f for f in named if f not in new], f"`{name}`"


def listed(files):
    return "<br>".join(f"`{f}`" for f in files) or "none"


def main():
    print("| addition | new files | edited by hand | counted by |\n|---|---|---|---|")
    for addition, new, edited, how in rows():
        tests = sum(f.startswith("tests/") for f in new)
        print(f"| {addition} | {len(new) - tests} + {tests}: {listed(new)} | {len(edited)}: {listed(edited)} | {how} |")


if __name__ == "__main__":
    main()
