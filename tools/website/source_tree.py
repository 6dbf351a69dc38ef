# SPDX-License-Identifier: Apache-2.0
"""The pages of the repository as MkDocs takes them: docs/ becomes the root, and links lead to where their targets are on the site."""

import os
import re
import shutil

from navigation import weight
from repository import ROOT, tracked

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^()\s]+)((?: \"[^\"]*\")?\))")
ROOTS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
WIDE = ("index.md", "gallery.md")  # pages without neighbors at their side
INDEXED = {  # folders that pages link to
    "docs/how_to": ("how_to/index.md", "How to"),
    "docs/examples": ("examples/index.md", "Examples"),
    "docs/explanation": ("explanation/index.md", "Explanation"),
    "docs/decisions": ("decisions/index.md", "Decisions"),
    "docs/notebooks": ("notebooks/index.md", "Notebooks"),
    "docs/reference/operators": ("reference/operators.md", ""),
}


def place(name):
    """Where a file of the repository is on the site."""
    if name in ROOTS:
        return ROOTS[name]
    if name in INDEXED:
        return INDEXED[name][0]
    return name.removeprefix("docs/") if name.startswith("docs/") else f"files/{name}"


def title(text):
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1]


class Tree:
    """Copies pages, and all that they link to."""

    def __init__(self, folder):
        self.folder, self.done, self.waiting = folder, set(), []

    def link(self, page, target):
        """A link of a page, as the site has it; None if nothing of the site is there."""
        if re.match(r"[a-z]+:|#", target):
            return target
        name, mark, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(page), name))
        if (ROOT / there).is_dir() and there not in INDEXED:
            return None
        if there not in INDEXED:
            self.waiting.append(there)
        return os.path.relpath(place(there), os.path.dirname(place(page)) or ".") + mark + anchor

    def linked(self, page, text):
        def replaced(match):
            to = self.link(page, match[2])
            return match[1] + to + match[3] if to else re.sub(r"^!?\[|\]\($", "", match[1])

        return LINK.sub(replaced, text)

    def write(self, name, text):
        """A page of the site, with its weight in the search."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        side = "hide: [navigation]\n" if name in WIDE else ""
        path.write_text(f"---\n{side}search:\n  boost: {weight(name)}\n---\n\n{text}")

    def copy(self, name):
        if name in self.done:
            return
        self.done.add(name)
        to = self.folder / place(name)
        to.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            self.write(place(name), self.linked(name, (ROOT / name).read_text()))
        else:
            shutil.copyfile(ROOT / name, to)

    def copy_all(self):
        self.waiting += [*ROOTS, *(n for n in tracked() if n.startswith("docs/"))]
        while self.waiting:
            self.copy(self.waiting.pop())
        for folder, (page, heading) in INDEXED.items():
            if heading:
                self.write(page, self.index(folder, heading))

    def index(self, folder, heading):
        pages = sorted(n for n in self.done if os.path.dirname(n) == folder and n.endswith(".md"))
        lines = [f"- [{title((ROOT / n).read_text())}]({os.path.basename(n)})" for n in pages]
        return "\n".join([f"# {heading}", "", *lines, ""])


def with_pictures(folder, pictures):
    """Puts the picture of the gallery on the page of each operator, before its arguments."""
    for name, (call, file) in pictures.items():
        page = folder / "reference" / "operators" / f"{name}.md"
        shown = f"![Before and after](../../gallery/{file}){{ width=652 }}\n\n<small>`{call}`</small>\n\nInputs: "
        page.write_text(page.read_text().replace("\nInputs: ", "\n" + shown, 1))
