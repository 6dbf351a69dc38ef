# SPDX-License-Identifier: Apache-2.0
"""The form of the tree: clang-format for C++, ruff for Python, with the settings in .clang-format and pyproject.toml.

    python tools/form.py                 says which files would change; ends with 1 if there is one
    python tools/form.py --apply         changes them
    python tools/form.py --same REVISION says which files differ from REVISION in more than their form

--same compares what a compiler sees: tokens, preprocessor lines, and for Python the syntax tree. A commit that formats
is safe when it says that nothing differs. Kernels' texts, which hold their blanks and comments, count by the byte.
"""

import argparse
import ast
import inspect
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

from repository import ROOT, tracked

BIN = Path(sys.executable).parent
CPP = {".cpp", ".h", ".hpp", ".c", ".cu"}
RAW_STRING = r'(?:u8|[uUL])?R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"'
KEPT_AS_TEXT = {
    f"PENSTOCK_{name}" for name in ("PIXEL", "TEXT")
}  # macros, not settings: the text has single blanks between their tokens
TOKEN = re.compile(
    RAW_STRING + r"|(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)|(?P<space>(?:\s|\\\n)+)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\")|'(?:\\.|[^'\\\n])+'|[A-Za-z_]\w*|\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*|.",
    re.DOTALL,
)


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def formatted(names, check):
    """Runs both formatters; returns what they say of files that are not in form."""
    cpp = [name for name in names if Path(name).suffix in CPP]
    python = [name for name in names if Path(name).suffix in (".py", ".pyi")]
    mode = ["--dry-run", "-Werror"] if check else ["-i"]
    parts = [cpp[i :: cpu_count()] for i in range(cpu_count())]
    commands = [[BIN / "clang-format", *mode, *part] for part in parts if part]
    if python:
        commands.append(
            [BIN / "ruff", "format", "--quiet", "--force-exclude", *(["--check"] if check else []), *python]
        )
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda c: subprocess.run(c, cwd=ROOT, capture_output=True, text=True), commands))
    said = "".join(run.stdout + run.stderr for run in runs)
    found = set(re.findall(r"^(\S+?):\d+:\d+: error: code should be clang-formatted", said, re.MULTILINE))
    found |= set(re.findall(r"^(?:Would reformat: |  --> )(\S+?)(?::\d+:\d+)?$", said, re.MULTILINE))
    if any(run.returncode for run in runs) and not found:
        raise SystemExit(said)
    return sorted(found)


def breaches():
    """For tools/lint.py: FILE, line, what."""
    for name in formatted(tracked(), check=True):
        yield ROOT / name, 0, "not in form: tools/check format"


def tokens(text):
    """What the compiler sees of a C++ file: tokens, adjacent strings joined, preprocessor lines as they are."""
    seen, directive, fresh, depth = [], False, True, None
    for found in TOKEN.finditer(text):
        token = found.group()
        if found["comment"] or found["space"]:
            if depth and seen[-1] != " ":
                seen.append(" ")
            if "\n" in token.replace("\\\n", "") and not token.startswith("/*"):
                if directive:
                    seen.append("\n")
                directive, fresh = False, True
            elif directive and seen[-3:-1] == ["#", "define"]:
                seen.append(" ")  # `#define F (x)` is not `#define F(x)`
            continue
        directive = directive or (fresh and token == "#")
        fresh = False
        if token in KEPT_AS_TEXT and not directive:
            depth = 0
        elif depth is not None and token in "()":
            depth += 1 if token == "(" else -1
            if depth == 0:
                depth = None
                if seen[-1] == " ":
                    seen.pop()
        elif seen[-2:] == ["(", " "] and depth == 1 and seen[-3] in KEPT_AS_TEXT:
            seen.pop()
        if found["string"] and seen and seen[-1].startswith('"') and seen[-1].endswith('"') and not directive:
            seen[-1] = seen[-1][:-1] + token[1:]
        else:
            seen.append(token)
    return seen


def tree(text):
    """The syntax tree, with docstrings as help() shows them."""
    parsed = ast.parse(text)
    for node in ast.walk(parsed):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            body[0].value.value = inspect.cleandoc(body[0].value.value).strip()
    return ast.dump(parsed)


def kernel_texts():
    """The headers that cmake/gpu.cmake embeds as text."""
    folders = [ROOT / "src/cuda/whole/kernels", *(ROOT / "src/families").glob("*/kernels")]
    found = {p.relative_to(ROOT).as_posix() for folder in folders for p in folder.glob("*.h")} | {"src/launch/entry.h"}
    lists = re.findall(
        r"^set\((?:vocabulary|jpeg_kernels|video_kernels|kernel_sources)\s(.*?)\)",
        (ROOT / "cmake/gpu.cmake").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    return found | {"src/" + name for names in lists for name in names.split()}


def differing(revision):
    texts = kernel_texts()
    for name in output("git", "diff", "--name-only", revision).split():
        path = ROOT / name
        before = subprocess.run(["git", "show", f"{revision}:{name}"], cwd=ROOT, capture_output=True, text=True)
        if not path.is_file() or before.returncode:
            yield name, "is new or gone"
        elif name in texts:
            yield name, "is the text of kernels"
        elif path.suffix in CPP:
            if tokens(before.stdout) != tokens(path.read_text()):
                yield name, "has other tokens"
        elif path.suffix in (".py", ".pyi"):
            if tree(before.stdout) != tree(path.read_text()):
                yield name, "has another syntax tree"
        else:
            yield name, "is not of a formatted language"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apply", action="store_true")
    parser.add_argument("--same", metavar="REVISION")
    parser.add_argument("files", nargs="*", help="only these")
    options = parser.parse_args()
    if options.same:
        found = [f"{name} {why}" for name, why in differing(options.same)]
        print(*found, f"form: {len(found)} files differ from {options.same} in more than their form", sep="\n")
    elif options.apply:
        formatted(options.files or tracked(), check=False)
        return 0
    else:
        found = [f"{name}: not in form" for name in formatted(options.files or tracked(), check=True)]
        print(*found, f"form: {len(found)} files to change", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
