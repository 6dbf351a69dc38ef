# SPDX-License-Identifier: Apache-2.0
"""Names in unnamed namespaces that two files have which cmake/batches.cmake may join into one: the compiler takes them for one name.

    python tools/joined_files.py       prints them

The batches move where a file is added, and only builds with sanitizers join so many files. So files that are near each other in the
alphabet must not share a name. Functions may, if their parameters differ. The files need no build; they are read as the formatter
writes them.
"""

import re

from repository import ROOT, tracked

CMAKE = "cmake/batches.cmake"
# As cmake/batches.cmake and CMakeLists.txt have it: files of a batch, and the rooms that never are in one.
NEAR, NEAR_IN_A_FOLDER = 16, 10
BY_ALPHABET = ("operator", "ops", "capi", "readers", "exec", "graph", "function", "tensorflow")
NEVER = ("pixel", "numerics", "families", "cpu", "triton")
TEMPLATE = re.compile(r"template <")
TYPE = re.compile(
    r"(?:struct|class|union|enum(?: class| struct)?) (?:alignas\(\w+\) )?(\w+)(?: final)?(?: ?: ?[^;]*)? ?\{"
)
ALIAS = re.compile(r"(?:using|namespace|concept) (\w+) = ?")
FUNCTION = re.compile(r"[\w:<>,*&\[\]. ]*?[ *&](operator\S+?|\w+)\(")
VARIABLE = re.compile(r"[\w:<>,*&(). ]*?[ *&](\w+)(?:\[[^\]]*\])*(?: = |\{|;| =$)")
NO_NAMES = re.compile(
    r"(?:return|if|for|TEST\w*|INSTANTIATE_\w+|TYPED_TEST\w*|PENSTOCK_\w+|static_assert|using namespace|friend|extern|typedef)\b"
)


def without_arguments(text, opening="<", closing=">"):
    """The text after the template's parameters that it begins with."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == opening) - (letter == closing)
        if letter == closing and not depth:
            return text[place + 1 :].lstrip()
    return text


def parameters_of(text):
    """The types of a function's parameters, from the text that begins with them: names and defaults are left out."""
    text = text[: len(text) - len(without_arguments(text, "(", ")"))].rstrip().rstrip(")")[1:]
    kinds, depth, one = [], 0, ""
    for letter in text + ",":
        depth += (letter in "<({[") - (letter in ">)}]")
        if letter == "," and depth <= 0:
            kind = re.sub(r"\s+", " ", one.partition(" = ")[0]).strip()
            kinds.append(
                re.sub(r"([*&>\s])\w+(\[\w*\])?$", r"\1\2", kind).strip() if " " in kind or ">" in kind else kind
            )
            one = ""
        else:
            one += letter
    return tuple(kind for kind in kinds if kind)


def names_of(lines):
    """{(namespaces, name, form): line} of what unnamed namespaces of a file define, and of its static names. The form is that of a
    function, or the text of an alias: names with different forms, and equal aliases, are not faults."""
    found, spaces = {}, []
    lines = [line.partition("//")[0].rstrip() if not line.startswith("}  // namespace") else line for line in lines]
    for number, line in enumerate(lines, 1):
        if m := re.match(r"namespace(?: ([\w:]+))? \{$", line):
            spaces.append(m[1])
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif line[:1].isalpha() and (None in spaces or line.startswith("static ")) and not NO_NAMES.match(line):
            statement = "\n".join(lines[number - 1 : number + 12])
            is_template = bool(TEMPLATE.match(statement))
            while TEMPLATE.match(statement):
                statement = without_arguments(statement)
            first = statement.partition("\n")[0]
            for kind in (TYPE, ALIAS, FUNCTION, VARIABLE):
                if m := kind.match(first):
                    form = None
                    if kind is FUNCTION:
                        form = is_template, parameters_of(statement[m.end() - 1 :])
                    elif kind is ALIAS:
                        form = statement.partition(";")[0]
                    found.setdefault((tuple(s for s in spaces if s), m[1], form), number)
                    break
    return found


def targets():
    """Lists of files, each in the order in which CMake has them, with how near two of them must be to be joined."""
    text = (ROOT / CMAKE).read_text()
    alone = set(re.findall(r"src/[\w/]+\.cpp", text))
    found = {}
    for name in sorted(n for n in tracked() if n.startswith("src/") and n.endswith(".cpp") and n.count("/") > 1):
        room = name.split("/")[1]
        if name in alone or (room == "codecs" and not name.endswith("_test.cpp") and is_alone_by_its_text(name)):
            continue
        if name.endswith("_test.cpp"):
            found.setdefault(("cuda" if "/kernels/" in name else room, "tests", NEAR), []).append(name)
        elif room in BY_ALPHABET:
            found.setdefault((room, "", NEAR), []).append(name)
        elif room not in NEVER:
            found.setdefault((room, name.rpartition("/")[0], NEAR_IN_A_FOLDER), []).append(name)
    return [(near, names) for (_, _, near), names in found.items()]


def is_alone_by_its_text(name):
    return "/codecs/jpeg/" in name or re.search(
        r"^PENSTOCK_(?:IMAGE|SOUND)_FORMAT", (ROOT / name).read_text(), re.MULTILINE
    )


def collide(one, other):
    """Whether two names of these forms cannot be in one file."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return one == other
    return one != other or one is None


def breaches():
    """(path, line, what) of each name that a file before it in the alphabet has."""
    for near, files in targets():
        before = {}
        for place, name in enumerate(files):
            for (spaces, own, form), line in names_of((ROOT / name).read_text().splitlines()).items():
                known = before.setdefault((spaces, own), [])
                for other, its_place, its_form in known:
                    if place - its_place < near and collide(form, its_form):
                        what = f"{own} is also in {other}, which some builds compile as one file with this"
                        yield ROOT / name, line, what
                        break
                known.append((name, place, form))


if __name__ == "__main__":
    for path, line, what in breaches():
        print(f"{path.relative_to(ROOT)}:{line}: {what}")
