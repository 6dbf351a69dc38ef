# SPDX-License-Identifier: Apache-2.0
"""Searches comments, messages and pages for words that this tree does not use (tools/refused_words.txt).

python tools/words.py            the folders that the list names
python tools/words.py PATH...    these, whether the list names them or not
"""

import re
import subprocess
import sys
from pathlib import Path

from repository import ROOT

LIST = ROOT / "tools" / "refused_words.txt"
CODE = {".cpp", ".h", ".hpp", ".cu", ".py", ".pyi"}
STRING = re.compile(r'"(?:\\.|[^"\\])*"' + r"|'(?:\\.|[^'\\]){2,}'")


def rules():
    """({section: [line]} of the list, {section: [(pattern, better)]})"""
    sections, section = {}, None
    for line in LIST.read_text().splitlines():
        if line.startswith("[") and line.endswith("]") and "=>" not in line:
            section = sections.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            section.append(line)
    pairs = {
        name: [tuple(part.strip() for part in line.split("=>")) for line in sections[name]]
        for name in ("everywhere", "comments")
    }
    return sections["folders"], {
        name: [(re.compile(found, re.IGNORECASE), better) for found, better in lines] for name, lines in pairs.items()
    }


def prose(path, text):
    """(line number, comment or line of a page, strings) of each line."""
    mark = "#" if path.suffix in (".py", ".pyi") else "//"
    inside = False  # of a docstring or a page
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix not in CODE:
            yield number, line.strip(), ""
            continue
        turns = line.count('"""') if mark == "#" else 0
        if inside or turns:
            yield number, line.strip().strip('"'), ""
            inside = inside != (turns % 2 == 1)
            continue
        strings = STRING.findall(line)
        comment = STRING.sub('""', line).partition(mark)
        yield number, comment[2].strip(), " ".join(strings)


def breaches(paths=None):
    """For tools/lint.py: FILE, line, what."""
    folders, searched = rules()
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *(paths or folders)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for path in (ROOT / name for name in names if name and Path(name).suffix in CODE | {".md"}):
        for number, comment, strings in prose(path, path.read_text()):
            for where, texts in (("everywhere", (comment, strings)), ("comments", (comment,))):
                for found, better in searched[where]:
                    for text in texts:
                        if hit := found.search(text):
                            yield path, number, f'not "{hit.group().strip()}", but: {better}'


def main():
    found = list(breaches(sys.argv[1:]))
    for path, number, what in found:
        print(f"{path.relative_to(ROOT)}:{number}: {what}")
    print(f"words: {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
