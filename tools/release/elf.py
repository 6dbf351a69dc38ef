# SPDX-License-Identifier: Apache-2.0
"""What a wheel's binaries may ask of the system that they run on: glibc 2.28 and the libstdc++ of GCC 8, nothing else."""

import re
import subprocess

NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}  # of manylinux_2_28
SYSTEM = re.compile(r"^(lib(c|m|pthread|dl|rt|gcc_s|stdc\+\+)\.so\.\d+|ld-linux-(x86-64|aarch64)\.so\.\d)$")
OURS = re.compile(r"^(libpenstock\.so\.\d+\.\d+|libtensorflow_framework\.so\.2)$")
# Names that the program has which loads the binary: Python, Triton's server; TensorFlow's are in its library.
LOADERS = {"_core": r"_?Py", "libtriton_penstock": r"TRITON", "libpenstock_tf": r"(TF|TFE)_"}


def names(path, option):
    return subprocess.run(["readelf", "-W", *option.split(), path], capture_output=True, text=True, check=True).stdout


def version_of(text):
    family, _, numbers = text.partition("_")
    return family, tuple(int(n) for n in re.findall(r"\d+", numbers))


def symbols(path):
    """(name, version or None, whether it is defined) of the dynamic symbols that other files see or have."""
    for line in names(path, "--dyn-syms").splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[4] not in ("GLOBAL", "WEAK", "UNIQUE"):
            continue
        name, _, version = fields[7].partition("@")
        yield name, version.strip("@") or None, fields[6] != "UND", fields[4] == "WEAK"


def faults(path, exported):
    """Sentences about one binary. `exported`: the names that libpenstock.so has."""
    dynamic = names(path, "-d")
    for library in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
        if not SYSTEM.match(library) and not OURS.match(library):
            yield f"{path.name} needs {library}, which is not part of the system"
    for place in re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", dynamic):
        if place != "$ORIGIN":
            yield f"{path.name} looks for libraries in {place}"
    loader = re.compile(LOADERS.get(path.name.split(".")[0], r"$^"))
    for name, version, is_defined, is_weak in symbols(path):
        if version and not is_defined:
            family, numbers = version_of(version)
            if not numbers or numbers > NEWEST.get(family, (0,)):
                yield f"{path.name} needs {name} of {version}, which is too new"
        elif not is_defined and not is_weak and name not in exported and not loader.match(name):
            yield f"{path.name} needs {name}, which nothing has"


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def check(folder):
    """Raises SystemExit with what is wrong in the binaries below a folder; returns them."""
    binaries = [p for p in sorted(folder.rglob("*")) if p.is_file() and is_elf(p)]
    exported = {
        n for p in binaries if p.name.startswith("libpenstock.so") for n, _, defined, _ in symbols(p) if defined
    }
    found = [fault for path in binaries for fault in faults(path, exported)]
    if found or not binaries:
        raise SystemExit("\n".join(found or [f"no binaries in {folder}"]))
    return binaries
