# SPDX-License-Identifier: Apache-2.0
"""Writes a libstdc++.so.6 to link against, with the names that the one of manylinux_2_28 has and no code.

    python stub_libstdcxx.py LIBSTDC++.SO FOLDER     writes FOLDER/stub.s and FOLDER/stub.map

A name that came later is not in it, so that the linker takes it from libstdc++.a: the library then runs with any
libstdc++.so.6 since GCC 8.
"""

import subprocess
import sys
from pathlib import Path

NEWEST = {"GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}  # of the rules for manylinux_2_28


def symbols(library):
    """(name, version, kind, size) of what the library defines."""
    text = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        version = line.rsplit("@", 1)[-1].strip()
        fields = line.split()
        if "@" not in line or len(fields) < 8 or fields[6] == "UND":
            continue
        yield fields[-1].split("@")[0], version, fields[3], int(fields[2], 0), "@@" in fields[-1]


def is_old(version):
    family, _, numbers = version.partition("_")
    parts = numbers.split(".")
    if family not in NEWEST or not all(part.isdigit() for part in parts):
        return version in ("CXXABI_FLOAT128", "CXXABI_TM_1")
    return tuple(map(int, parts)) <= NEWEST[family]


def main(library, folder):
    versions, lines, known = {}, ['    .section .note.GNU-stack,"",%progbits'], set()
    for name, version, kind, size, is_default in symbols(library):
        if not is_default or not is_old(version) or name in known or kind == "NOTYPE":
            continue
        if name == version:  # the name of the version itself
            continue
        known.add(name)
        versions.setdefault(version, []).append(name)
        section = {"TLS": '.tbss,"awT",%nobits', "OBJECT": '.data,"aw",%progbits'}.get(kind, '.text,"ax",%progbits')
        type_name = {"TLS": "tls_object", "OBJECT": "object"}.get(kind, "function")
        lines += [
            f"    .section {section}",
            f"    .globl {name}",
            f"    .type {name}, %{type_name}",
            f"{name}:",
            f"    .zero {max(size if type_name != 'function' else 4, 4)}",
            f"    .size {name}, {size}",
        ]
    Path(folder, "stub.s").write_text("\n".join(lines) + "\n")
    nodes = [f"{version} {{ global: {'; '.join(names)}; }};" for version, names in sorted(versions.items())]
    Path(folder, "stub.map").write_text("\n".join(nodes) + "\nNEVER { local: *; };\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
