# SPDX-License-Identifier: Apache-2.0
"""What the compiler made of the loops whose speed depends on registers. Ends with 1 if one of them breaks its rule.

    python tools/check_assembly.py build/libpenstock.so [-v]        x86-64, a Release build with its symbols

GCC 12 moves integers through vector registers where it tunes for some processors, which costs the loop of two entropy
streams a quarter of its speed; and a harmless change can make a kernel need more registers than there are. A pixel function that is not inlined is compiled
for no target: loops call it for each pixel, 30 times slower.
A name that no function has is a failure too: nothing passes by being renamed.
"""

import argparse
import re
import subprocess
import sys

# Whole demangled names are searched for the pattern; every function that has it must keep the rule.
HOT = [
    (r"::entropy_\w+::(?:run_one|run_two|run_in_turn|run_alone|finish_alone|skip_slowly)\b", "no vector registers"),
    (r"::kernels_avx512::color_row_vector<", "no spills in loops"),
    (r"::kernels_avx512::gray_row_vector<", "no spills in loops"),
]
# Functions that must not be there by themselves: the loops that inline them are what counts. A loop that calls one of them
# is not vectorized: sin took ten times as long.
FUNCTIONS = "a?(?:sin|cos|tan)h?|atan2|exp|log|log2|log10|log1p|pow|cbrt"
INLINED = re.compile(
    rf"^(?!fmt::).*::(?:pixel|apply)(?:<[^()]*>)?\(|\bpenstock::(?:(?:single_precision|series)::(?!far_)\w+|{FUNCTIONS})(?:<[^()]*>)?\("
)
VECTOR = re.compile(r"%[xyz]mm\d+")
# A fixed place on the stack; one with an index register is an array.
STACK = re.compile(r"-?(?:0x[0-9a-f]+)?\(%r[sb]p\)")
STORE = re.compile(r"^v?mov\w*\s+(%[xyz]mm\d+),\s*(\S+)$")
JUMP = re.compile(r"^j\w+\s+([0-9a-f]+)\b")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def functions(library):
    """(name, address, size) of every function."""
    for line in output_of("nm", "-C", "-S", "--defined-only", library):
        if found := re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.*)", line):
            yield found.group(3), int(found.group(1), 16), int(found.group(2), 16)


def instructions(library, address, size):
    """[(address, instruction)] in AT&T syntax."""
    lines = output_of(
        "objdump",
        "-d",
        "--no-show-raw-insn",
        "-w",
        f"--start-address={address:#x}",
        f"--stop-address={address + size:#x}",
        library,
    )
    found = (re.match(r"\s*([0-9a-f]+):\s+(\S.*?)\s*(?:#.*)?$", line) for line in lines)
    return [(int(f.group(1), 16), f.group(2)) for f in found if f]


def loops(body):
    """(first, last) addresses of the innermost backward jumps."""
    spans = []
    for address, text in body:
        if (jump := JUMP.match(text)) and body[0][0] <= int(jump.group(1), 16) <= address:
            spans.append((int(jump.group(1), 16), address))
    return [a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans)]


def spills(span):
    """Vector registers that one loop both saves to the stack and loads from it."""
    stored, fetched = {}, set()
    for address, text in span:
        slots = STACK.findall(text)
        if not slots or not VECTOR.search(text):
            continue
        store = STORE.match(text)
        if store and STACK.fullmatch(store.group(2)):
            stored[slots[-1]] = (address, text)
        else:
            fetched.update(slots)
    return [line for slot, line in stored.items() if slot in fetched]


def breaches(rule, body):
    if rule == "no vector registers":
        return [line for line in body if VECTOR.search(line[1])]
    inner = loops(body)
    if not inner:
        return [(body[0][0], "has no loop")]
    return [line for first, last in inner for line in spills([i for i in body if first <= i[0] <= last])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("-v", "--verbose", action="store_true", help="name every function that was looked at")
    options = parser.parse_args()
    checked, failed = dict.fromkeys((pattern for pattern, _ in HOT), 0), 0
    for name, address, size in sorted(set(functions(options.library))):
        if INLINED.search(name) and ".cold" not in name:
            print(f"{name}: is not inlined; PENSTOCK_INLINE or PENSTOCK_LOOPED does that")
            failed += 1
        for pattern, rule in HOT:
            if not re.search(pattern, name) or ".cold" in name:
                continue
            checked[pattern] += 1
            body = instructions(options.library, address, size)
            bad = breaches(rule, body)
            failed += bool(bad)
            if bad or options.verbose:
                print(f"{name}: {len(body)} instructions, {rule}: {len(bad) or 'none'}")
            for address, text in bad[:5]:
                print(f"    {address:x}: {text}")
    for pattern, count in checked.items():
        if not count:
            print(f"no function is called {pattern}")
            failed += 1
    print(f"assembly: {sum(checked.values())} functions, {failed} breaches")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
