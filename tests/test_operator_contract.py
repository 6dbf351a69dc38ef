# SPDX-License-Identifier: Apache-2.0
"""Misspelled operators do not compile, and the compiler's messages say what to write (src/operator/families.h)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import operator_hooks  # noqa: E402

WHOLE = """
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override { out[0] = in[0]; }
"""
WORK = "void work(const SampleContext&, std::span<const View>, std::span<const View>, SampleWork&) const override {}"
RUN = "void run(const SampleContext&, std::span<const View>, std::span<const View>) const override {}"
PIXEL = """
  PENSTOCK_PIXEL(template <class V> struct Coef { V k; };
                 template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) { return in * c.k; });
"""
COEF = "Coef<float> coef(int) const { return {2}; }"
LANE = "Lane lane(std::span<const DType>, DType) const override { return Lane::f64; }"
FOLD = """
  PerFrame<float> k = 1.0f;
  PENSTOCK_TEXT(fold_text, struct Values { float k; }; struct Known { float scale; };
                template <class V> PENSTOCK_HD static Coef<V> fold(const Values& v, const Known& n) { return {V(v.k)}; });
"""
FOLDED = "static constexpr auto folded = std::tuple{&Operator_::k};"
KNOW = "void know(Known& n) const { n.scale = 1; }"
MAP = "void map(const SampleContext&, Placement&) const override {}"
REFUSES = "template <class V> PENSTOCK_HD static bool refuses(V, V b, const Coef<V>&) { return b == V(0); }"
TWO = """
  PENSTOCK_PIXEL(template <class V> struct Coef { V constant; int constant_left; };
                 template <class V> PENSTOCK_HD static V pixel(V a, V b, const Coef<V>&) { return a / b; });
"""

# The family, the body, and what the compiler must say; "": it compiles.
CASES = {
    "pixel": ("PixelOperator", PIXEL + COEF, ""),
    "pixel with lanes": (
        "PixelOperator",
        PIXEL
        + LANE
        + "using Lanes = LaneList<float, double>; template <class V> Coef<V> coef(int) const { return {}; }",
        "",
    ),
    "pixel for each channel": ("PixelOperator", PIXEL + "Coef<float> coef(SampleFrame, int) const { return {}; }", ""),
    "folded": ("PixelOperator", PIXEL + FOLD + FOLDED + KNOW, ""),
    "map": ("MapOperator", MAP, ""),
    "map and pixel": ("MapPixelOperator", MAP + PIXEL + COEF, ""),
    "operands that are refused": (
        "ElementwiseOperator<2>",
        WHOLE + TWO + COEF.replace("{2}", "{}") + REFUSES + 'static constexpr const char* fault = "zero";',
        "",
    ),
    "whole": ("WholeOperator", WHOLE + WORK, ""),
    "whole, on the CPU alone": ("WholeOperator", WHOLE + RUN, ""),
    # ---- what is misspelled
    "without a family": (
        "",
        (WHOLE + RUN).replace(" override", ""),
        "an operator derives from its family: PixelOperator, MapOperator",
    ),
    "shape": ("WholeOperator", WHOLE.replace("shapes", "shape") + RUN, "marked 'override', but does not override"),
    "maps": ("MapOperator", MAP.replace("map", "maps"), "marked 'override', but does not override"),
    "map of a sample": ("MapOperator", MAP.replace("const SampleContext&", "int"), "marked 'override', but does not"),
    "ready that is const": ("MapOperator", MAP + "void ready() const override {}", "marked 'override', but does not"),
    "no map": ("MapOperator", "", "an operator overrides each pure function of its family, as operator/families.h"),
    "no shapes": ("WholeOperator", RUN, "an operator overrides each pure function of its family"),
    "neither work nor run": (
        "WholeOperator",
        WHOLE,
        "overrides either work(), whose steps run on both devices, or run()",
    ),
    "work and run": (
        "WholeOperator",
        WHOLE + WORK + RUN,
        "overrides either work(), whose steps run on both devices, or",
    ),
    "hook of another family": ("PixelOperator", PIXEL + COEF + MAP, "marked 'override', but does not override"),
    "no coef": ("PixelOperator", PIXEL, "a pixel part needs `Coef<float> coef(int sample) const`"),
    "coef that is misspelled": (
        "PixelOperator",
        PIXEL + COEF.replace("coef(", "coeff("),
        "a pixel part needs `Coef<float>",
    ),
    "coef of another type": (
        "PixelOperator",
        PIXEL + "float coef(int) const { return 2; }",
        "a pixel part needs `Coef<fl",
    ),
    "coef that is not const": (
        "PixelOperator",
        PIXEL + COEF.replace(" const", ""),
        "a pixel part needs `Coef<float> coef(",
    ),
    "coef in float for lanes": (
        "PixelOperator",
        PIXEL + COEF + LANE + "using Lanes = LaneList<float, double>;",
        "for Lanes other than float `template <class V> Coef<V> coef(int sample) const`",
    ),
    "lane without Lanes": (
        "PixelOperator",
        PIXEL + COEF + LANE,
        "come together: the second one chooses one of the first",
    ),
    "Lanes without lane": (
        "PixelOperator",
        PIXEL + COEF + "using Lanes = LaneList<float>;",
        "come together: the second one chooses one of the first",
    ),
    "no text": (
        "PixelOperator",
        PIXEL.replace("PENSTOCK_PIXEL(", "").replace(" });", " }") + COEF,
        "write Coef and pixel() inside PENSTOCK_PIXEL(...), which also keeps them as text for GPUs",
    ),
    "no Coef": ("PixelOperator", PIXEL.replace("Coef", "Coeff"), "a pixel part needs `template <class V> struct Coef"),
    "pixel without coefficients": (
        "PixelOperator",
        PIXEL.replace("V in, Coef<V> c", "V in").replace("c.k", "in") + COEF,
        "a pixel part needs `template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c)`",
    ),
    "pixel of a map": (
        "MapOperator",
        MAP + PIXEL + COEF,
        "derives from PixelOperator, ElementwiseOperator or, if it also",
    ),
    "dtype that is not used": (
        "MapOperator",
        MAP + "DType dtype = DType::none;",
        "an operator with an argument dtype says",
    ),
    "fold without know": (
        "PixelOperator",
        PIXEL + FOLD + FOLDED,
        "an operator that folds needs `struct Values`, `struct",
    ),
    "fold without folded": (
        "PixelOperator",
        PIXEL + FOLD + KNOW,
        "an operator that folds needs `struct Values`, `struct",
    ),
    "fold that is misspelled": (
        "PixelOperator",
        PIXEL + FOLD.replace("> fold(", "> folds(") + FOLDED + KNOW,
        "an operator that folds needs, with Values and Known inside PENSTOCK_TEXT(fold_text, ...)",
    ),
    "refuses without fault": (
        "ElementwiseOperator<2>",
        WHOLE + TWO + COEF.replace("{2}", "{}") + REFUSES,
        "an operator that refuses operands needs both `static constexpr const char* fault`",
    ),
    "fused_multiply_adds": (
        "PixelOperator",
        PIXEL + COEF + "int fused_multiply_adds(float*) const { return 1; }",
        "the form is `int fused_multiply_adds(const Coef<float>&, float* mul_adds) const`",
    ),
}


@pytest.fixture(scope="module")
def messages():
    """What the compiler says of each case: all are in one file, with numbers of lines that tell them apart."""
    lines = []
    for k, (family, body, _) in enumerate(CASES.values()):
        schema = 'static Schema<Operator_> schema() { return Schema<Operator_>("name", "doc"); }'
        text = f"struct Operator_ {': ' * bool(family)}{family} {{ {schema} {body} }}; PENSTOCK_OPERATOR(Operator_);"
        lines += [f"#line {1000 * (k + 1)}", f"namespace case{k} {{ {' '.join(text.split())} }}"]
    source = "\n".join(['#include "operator/operator.h"', "namespace penstock {", *lines, "}", ""])
    done = subprocess.run(
        [os.environ.get("CXX", "c++"), "-std=c++20", f"-I{ROOT / 'src'}", "-fsyntax-only", "-x", "c++", "-"],
        input=source,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "LC_ALL": "C"},
    )
    said, case = [""] * len(CASES), 0
    for line in done.stderr.splitlines():  # what an error is about stands in it, or before it: "In instantiation of"
        at = re.search(r"case(\d+)::|<stdin>:(\d+)000:", line)
        if at:
            case = int(at[1]) if at[1] else int(at[2]) - 1
        said[case] += line + "\n"
    return dict(zip(CASES, said)), done.stderr


@pytest.mark.parametrize("case", CASES)
def test_what_the_compiler_says(messages, case):
    said, everything = messages
    wanted = CASES[case][2]
    if not wanted:
        assert "error" not in said[case], said[case]
    else:
        assert "error" in said[case] and wanted in " ".join(said[case].split()), said[case] or everything[:3000]


@pytest.mark.parametrize(
    "line, hook",
    [
        ("  void maps(const SampleContext&, Placement&) const {}", "map"),
        ("  void map(const SampleContext&, Placement&) const {}", "map"),
        ("  void shape(const SampleContext&) const {", "shapes"),
        ("  bool filter() const { return true; }", "filters"),
        ("  Coef<float> coeff(int) const { return {}; }", "coef"),
        ("  int fused_multiply_add(const Coef<float>&, float*) const { return 1; }", "fused_multiply_adds"),
    ],
)
def test_lint_refuses_what_is_named_like_a_hook(line, hook):
    """Without `override` the compiler takes a misspelled hook for a function of the operator alone."""
    text = f"struct Name : MapOperator {{\n  static Schema<Name> schema();\n{line}\n}};\n"
    found = list(operator_hooks.check_hooks(text))
    assert len(found) == 1 and found[0][0] == 3 and f"'{hook}'" in found[0][1]


@pytest.mark.parametrize(
    "line",
    [
        "  void map(const SampleContext&, Placement&) const override {}",
        "  int64_t padded(int64_t channels) const {",
        "  Coef<float> coef(int) const { return {}; }",
        " private:\n  void shape() const {}",
    ],
)
def test_lint_allows_hooks_and_other_names(line):
    assert not list(operator_hooks.check_hooks(f"struct Name : MapOperator {{\n{line}\n}};\n"))
