# SPDX-License-Identifier: Apache-2.0
"""The one form of the package's docstrings, read into parts:

    One sentence of at most 100 columns.

    Paragraphs.

    Args:
        name (kind): What it is.

    Returns:
        What comes back.

    Raises:
        ValueError: Why.

    Example:
        >>> fn.flip(image)

Lines of an example that begin with >>> are run. An example without them needs files or another package; it is compiled.
"""

import ast
import inspect
import re

SECTIONS = ("Args", "Returns", "Raises", "Example")
COLUMNS = 100


def parts(text):
    """(the first line, {section: its lines without their indentation})"""
    lines = inspect.cleandoc(text).splitlines()
    if len(lines) > 2 and re.match(r"\w*\(.*\) -> ", lines[0]):  # the extension's functions begin with their signature
        lines = lines[2 if not lines[1] else 1 :]
    sections, name = {}, None
    for line in lines[1:]:
        if line and not line[0].isspace():
            name = line[:-1] if re.fullmatch(r"[A-Z]\w+:", line) else None
            if name:
                sections[name] = []
        elif name:
            sections[name].append(line[4:])
    return lines[0] if lines else "", sections


def described(sections):
    """The names that Args describes."""
    names, entries = [], []
    for line in sections.get("Args", ()):
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    for line in entries:
        if found := re.match(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \(.*?\))?: \S", line):
            names += found[1].split(", ")
    return names


def parameters(function):
    """The names of a signature as Args has them, or None if Python knows no signature."""
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        marks.get(p.kind, "") + p.name for p in found if p.name not in ("self", "cls") and not p.name.startswith("_")
    ]


def faults(text, names=None):
    """What is wrong with a docstring. names: of the parameters that it must describe; None: not known."""
    if not text:
        return ["there is no docstring"]
    first, sections = parts(text)
    found = []
    if len(first) > COLUMNS or not first.endswith(".") or re.search(r"[.!?] +[A-Z]", first):
        found.append(
            f"the first line is not one sentence of at most {COLUMNS} columns that ends with a period: {first!r}"
        )
    if wrong := [s for s in sections if s not in SECTIONS]:
        found.append(f"sections {wrong}; there are {SECTIONS}")
    order = [s for s in SECTIONS if s in sections]
    if [s for s in sections if s in SECTIONS] != order:
        found.append(f"the sections are not in the order of {SECTIONS}")
    if empty := [s for s, lines in sections.items() if not any(lines)]:
        found.append(f"empty sections {empty}")
    said = described(sections)
    if names is not None and sorted(said) != sorted(names):
        found.append(
            f"Args lacks {sorted(set(names) - set(said))} and has {sorted(set(said) - set(names))} that do not exist"
        )
    if long := [line for line in text.splitlines() if len(line) > 120]:
        found.append(f"lines of more than 120 columns: {long}")
    example = "\n".join(sections.get("Example", ()))
    if ">>>" not in example:
        try:
            ast.parse(example)
        except SyntaxError as error:
            found.append(f"the example does not compile: {error}")
    return found
