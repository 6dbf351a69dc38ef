# SPDX-License-Identifier: Apache-2.0
"""tools/form.py --same: what a formatter may change, and what it must not."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import form  # noqa: E402
import words  # noqa: E402


@pytest.mark.parametrize(
    "before, after",
    [
        ("int a=1; // one", "int a = 1;"),
        ("a\n+b", "a + b"),
        ('f("a"\n  "b");', 'f("ab");'),
        ("#define A \\\n  1\nint x;", "#define A    \\\n 1\n\nint x;"),
        ("x = 1'000 + 0x1p-3;", "x = 1'000+0x1p-3;"),
        ("PENSTOCK_PIXEL(\n  int a = (1);\n  int b;  // two\n);", "PENSTOCK_PIXEL(int a = (1); int b;);"),
    ],
)
def test_form_is_not_seen(before, after):
    assert form.tokens(before) == form.tokens(after)


@pytest.mark.parametrize(
    "before, after",
    [
        ("int a = 1;", "int a = 2;"),
        ("int ab;", "int a b;"),
        ("#define F(x) x", "#define F (x) x"),
        ("#define A 1\nint x;", "#define A 1 int x;"),
        ('f("a b");', 'f("a  b");'),
        ('f(R"(a\n b)");', 'f(R"(a\nb)");'),
        ('f("a", "b");', 'f("ab");'),
        ("// #if 0\nx;", "#if 0\nx;"),
        ("PENSTOCK_PIXEL(int a=1;);", "PENSTOCK_PIXEL(int a = 1;);"),
    ],
)
def test_code_is_seen(before, after):
    assert form.tokens(before) != form.tokens(after)


def test_syntax_trees():
    assert form.tree('def f():\n    """A.\n\n      b\n    """\n') == form.tree('def f():\n    """A.\n\n      b"""\n')
    assert form.tree("a = [1,\n 2]") == form.tree("a = [1, 2]") != form.tree("a = [1, 3]")


@pytest.mark.parametrize(
    "text, found",
    [
        ("// this is no file\n", True),
        ("// this is no longer a file\n", False),
        ("int behind = 0;\n", False),
        ("// behind it\n", True),
        ('f("x and y exclude each other");\n', True),
        ("// Of a picture\n", True),
        ("// the size Of a\n", False),
        ('auto s = "is no file // of ours";\n', True),
    ],
)
def test_refused_words(text, found):
    _, searched = words.rules()
    hits = [
        p
        for _, comment, strings in words.prose(Path("a.cpp"), text)
        for where, parts in (("everywhere", (comment, strings)), ("comments", (comment,)))
        for p, _ in searched[where]
        for part in parts
        if p.search(part)
    ]
    assert bool(hits) == found
