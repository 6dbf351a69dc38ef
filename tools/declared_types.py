# SPDX-License-Identifier: Apache-2.0
"""Types that a room names by a declaration of its own (`class Batch;`, `const struct Batch& b`) while another room defines them:
no #include shows such an arrow. tools/lint.py refuses them."""

import re

KEY = r"\b(?:class|struct|union|enum(?: class| struct)?)"
DEFINED = re.compile(rf"{KEY} (?:alignas\(\w+\) )?(\w+)(?: final)?(?: ?:(?!:)[^;]*)?(?: \{{.*)?$")
DECLARED = re.compile(rf"(?:\s*friend )?{KEY} (\w+)(?: : [\w:]+)?;")  # an indented one is of a class
MENTIONED = re.compile(rf"{KEY} (\w+)(?= ?[*&>,)]| \w+ ?[;,)=({{])")
PARAMETERS = re.compile(r"(?:\btemplate ?|\])<(?:[^<>]|<[^<>]*>)*>")  # <class T>


def in_namespaces(lines):
    """(number, line, namespaces): ("penstock", "jpeg_gpu"), with None for an unnamed one. As the formatter writes them."""
    spaces = []
    for number, line in enumerate(lines, 1):
        if found := re.match(r"namespace(?: ([\w:]+))? \{$", line):
            spaces.append(found.group(1).split("::") if found.group(1) else [None])
        elif re.match(r"\}  // namespace", line) and spaces:
            spaces.pop()
        else:
            yield number, line, tuple(name for names in spaces for name in names)


def definitions(files):
    """{(*namespaces, type): rooms that define it}; `files` are (room, lines). What is in an unnamed namespace is a file's own."""
    found = {}
    for room, lines in files:
        for _, line, spaces in in_namespaces(lines):
            if None not in spaces and (name := DEFINED.match(line)):
                found.setdefault((*spaces, name.group(1)), set()).add(room)
    return found


def names(lines):
    """(number, type, [what it may mean]): innermost namespace first; a declaration means the type of its own namespace."""
    for number, line, spaces in in_namespaces(lines):
        code = PARAMETERS.sub("", line.partition("//")[0])
        if found := DECLARED.match(code):
            yield number, found.group(1), [(*spaces, found.group(1))]
        for found in MENTIONED.finditer(code):
            yield number, found.group(1), [(*spaces[:k], found.group(1)) for k in range(len(spaces), -1, -1)]


def breaches(room, lines, defined):
    """(number, what) in one file of a room; `defined` as definitions() gives it."""
    for number, name, meanings in names(lines):
        rooms = next((defined[m] for m in meanings if m in defined), {room})
        if room not in rooms:
            yield number, f"{name} is a type of {', '.join(sorted(rooms))}: include its header, do not declare it here"
