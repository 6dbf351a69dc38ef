# SPDX-License-Identifier: Apache-2.0
"""Functions of operators that are named like a hook of their family (src/operator/families.h) and override nothing: the
compiler takes them for functions of the operator alone, and nobody calls them."""

import re

from repository import ROOT

FAMILIES = ROOT / "src" / "operator" / "families.h"
HOOKS = sorted(set(re.findall(r"^  virtual [\w:<>, ]+?[ *&](\w+)\(", FAMILIES.read_text(), re.MULTILINE)))
TEMPLATES = ["coef", "fold", "fused_multiply_adds", "know", "pixel", "refuses"]  # which override nothing
STRUCT = re.compile(r"^(?:template <[^\n]*> ?\n?)?struct (\w+)[^{;\n]*\{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(
    r"^  (?:template <[^>\n]*> )?(?!static |return )[\w:][\w:<>, *&]*?[ *&](\w+)\(([^)]*)\)([^{;]*)[{;]", re.MULTILINE
)


def distance(a, b):
    """The fewest letters to insert, remove or replace that make one word of the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def check_hooks(text):
    """Number of the line, and what is wrong, of each such function of the operators in a file."""
    for struct in STRUCT.finditer(text):
        if not re.search(r"Operator\b|\bschema\(\)", struct[0]):
            continue
        public = re.split(r"^ (?:private|protected):", struct[2], maxsplit=1, flags=re.MULTILINE)[0]
        for f in FUNCTION.finditer(public):
            name = f[1]
            if "override" in f[3] or name in TEMPLATES:
                continue
            hook = min(HOOKS + TEMPLATES, key=lambda h: distance(h, name))
            if distance(hook, name) <= (2 if len(name) > 8 else 1):
                line = text.count("\n", 0, struct.start(2) + f.start()) + 1
                yield (
                    line,
                    f"'{name}' of {struct[1]} is named like the hook '{hook}': override it, or choose another name",
                )
