# SPDX-License-Identifier: Apache-2.0
"""Prints the house as it is: files and lines of each room, the arrows, functions over 60 lines (without their docstrings),
classes with more than 30 members.

    python tools/draw_rooms.py            tables on standard output; docs/explanation/rooms.svg is drawn by tools/generate.py

Functions and classes of C++ are found by their indentation, which the formatter keeps: good enough for a table, but not a parser.
"""

import ast
import re

from rooms import FOLDERS, INDIRECT, ROOT, arrows, floors, sources

MOST_LINES, MOST_MEMBERS = 60, 30
SCOPE = re.compile(
    r'\s*(?:template ?<.*>\s*)?(?:inline )?(?:namespace\b|extern "C"|(?:struct|class|union)\b[^()=]*\{$)'
)
NO_FUNCTION = re.compile(r"\s*(?:enum\b|#|//|\}|(?:if|for|while|switch|do|else|try|catch)\b)|.*=\s*\{$|.*\breturn\b")
CLASS = re.compile(r"(\s*)(?:template ?<.*>\s*)?(?:struct|class|union) (?:alignas\(\w+\) )?(\w+)[^()=;]*\{$")
NO_MEMBER = re.compile(
    r"\s*(?://|#|\}|\)|:|public|private|protected|using|friend|template ?<[^;{]*>$|static_assert|typedef)"
)


def indentation(line):
    return len(line) - len(line.lstrip())


def end_of(lines, start, opening=None):
    """The line that closes what begins in the line `start` and is opened there or in the line `opening`."""
    for k in range((start if opening is None else opening) + 1, len(lines)):
        if lines[k].startswith(" " * indentation(lines[start]) + "}"):
            return k
    return start


def functions_of_cpp(lines):
    """(name, first line, lines)."""
    k = 0
    while k < len(lines):
        if not lines[k].endswith("{") or SCOPE.match(lines[k]) or NO_FUNCTION.match(lines[k]):
            k += 1
            continue
        first = k
        while first and lines[first - 1].strip() and not re.search(r"[;{}:]$|^\s*(//|#)", lines[first - 1]):
            first -= 1
        names = re.findall(r"([\w:~]+)\(", " ".join(lines[first : k + 1]))
        end = end_of(lines, first, k)
        if names:
            yield names[0], first + 1, end - first + 1
        k = max(end, k) + 1


def classes_of_cpp(lines):
    """(name, line, members): functions and data; a declaration of three variables counts as three."""
    for k, line in enumerate(lines):
        if not (found := CLASS.match(line)):
            continue
        inner, members = len(found.group(1)) + 2, 0
        for member in lines[k + 1 : end_of(lines, k)]:
            if indentation(member) != inner or NO_MEMBER.match(member) or not re.search(r"[;{,(]", member):
                continue
            plain, before = member.partition("//")[0], None
            while plain != before:  # from the innermost brackets outwards
                plain, before = re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", plain), plain
            members += 1 + (0 if "(" in member.partition("=")[0] else plain.count(","))
        yield found.group(2), k + 1, members


def lines_of_docstring(node):
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is None:
        return 0
    return first.end_lineno - first.lineno + 1


def of_python(text):
    """([(function, line, lines)], [(class, line, members)])."""
    functions, classes = [], []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno + 1 - lines_of_docstring(node)
            functions.append((node.name, node.lineno, lines))
        elif isinstance(node, ast.ClassDef):
            own = {
                n.attr
                for n in ast.walk(node)
                if isinstance(n, ast.Attribute)
                and isinstance(n.ctx, ast.Store)
                and isinstance(n.value, ast.Name)
                and n.value.id == "self"
            }
            classes.append(
                (node.name, node.lineno, len(own | {n.name for n in node.body if isinstance(n, ast.FunctionDef)}))
            )
    return functions, classes


def main():
    pairs = arrows()
    floor = floors({*pairs, *INDIRECT})
    long_functions, large_classes = [], []
    print(f"{'floor':>5}  {'room':18} {'files':>5} {'lines':>7}  includes (number of #include lines)")
    for room in sorted(FOLDERS, key=lambda r: (-floor[r], r)):
        files = sources(room)
        texts = {path: path.read_text() for path in files}
        below = ", ".join(f"{b} {n}" for (a, b), n in sorted(pairs.items()) if a == room)
        print(
            f"{floor[room]:5}  {FOLDERS[room]:18} {len(files):5} {sum(len(t.splitlines()) for t in texts.values()):7}  {below}"
        )
        for path, text in texts.items():
            lines = text.splitlines()
            found = of_python(text) if path.suffix == ".py" else (functions_of_cpp(lines), classes_of_cpp(lines))
            long_functions += [(n, name, path, line) for name, line, n in found[0] if n > MOST_LINES]
            large_classes += [(n, name, path, line) for name, line, n in found[1] if n > MOST_MEMBERS]
    for title, rows in (
        (f"functions over {MOST_LINES} lines", long_functions),
        (f"classes with more than {MOST_MEMBERS} members", large_classes),
    ):
        print(f"\n{title}: {len(rows)}")
        for n, name, path, line in sorted(rows, key=lambda r: -r[0]):
            print(f"{n:5}  {name}  {path.relative_to(ROOT)}:{line}")


if __name__ == "__main__":
    main()
