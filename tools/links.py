# SPDX-License-Identifier: Apache-2.0
"""Links of the pages, for tools/lint.py: what a page links to or names as a path of the repository is there."""

import fnmatch
import functools
import re

from repository import ROOT, tracked


LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)(?: \"[^\"]*\")?\)")
# In CHANGELOG.md and results only links are checked: paths in them may name what no longer exists.
PATH = re.compile(
    r"(?<![\w./$-])(?:\.ci|benchmarks|cmake|docs|examples|include/penstock|python/(?:penstock|src)|src|tests|tools)/[\w./*-]*[\w*]"
)
# A source file that a page names by its name alone, or from some folder on: `stage_pack.cpp`, `base/gpu.h`.
SOURCE = re.compile(r"`((?:[\w.*-]+/)*[\w.*-]+\.(?:cpp|hpp|h|cu|py))`")
MADE = (
    "docs/how_to/add_",
    "benchmarks/data",
    "examples/demo/data",
    "benchmarks/logs",
)  # pages that teach to make a file; files that programs make


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    made, fenced = set(), False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"#+ (.*)", line)):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading.group(1)).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            made.add(slug if slug not in made else f"{slug}-{sum(a == slug or a.startswith(slug + '-') for a in made)}")
    return made


def wrong_link(path, target):
    if re.match(r"[a-z]+:", target):
        return ""
    name, _, anchor = target.partition("#")
    to = (path.parent / name).resolve() if name else path
    if not to.exists() or not to.is_relative_to(ROOT):
        return f"the link {target} leads nowhere"
    if anchor and to.suffix == ".md" and anchor not in anchors(to.read_text()):
        return f"{name or path.name} has no heading for #{anchor}"
    return ""


def is_there(name, page):
    """Below the root or beside the page; `src/cuda/stages/stage` means the files of that stem."""
    return any(
        next(folder.glob(pattern), None)
        for folder in (ROOT, page.parent)
        for pattern in (name, name + ".*", name + "-*")
    )


@functools.cache
def source_files():
    """The tree's source files, each with a slash before it, so that a pattern can end in any of its parts."""
    return ["/" + name for name in tracked() if SOURCE.fullmatch(f"`{name}`")]


def check_links(path, text):
    """(line, what) of each link, each path of the repository and each name of a source file that names nothing."""
    page = str(path.relative_to(ROOT))
    for link in LINK.finditer(text):
        if what := wrong_link(path, link.group(1)):
            yield text.count("\n", 0, link.start()) + 1, what
    if path.name == "CHANGELOG.md" or page.startswith(MADE):
        return
    for number, line in enumerate(LINK.sub(lambda link: "\n" * link.group().count("\n"), text).splitlines(), 1):
        for name in PATH.findall(line):
            if not is_there(name, path) and not name.startswith(MADE):
                yield number, f"there is no {name}"
        for name in SOURCE.findall(PATH.sub("", line)):
            if not any(fnmatch.fnmatch(file, f"*/{name}") for file in source_files()):
                yield number, f"no source file is called {name}"
