# SPDX-License-Identifier: Apache-2.0
"""What a wheel holds beside Penstock: a list in CycloneDX's JSON, and the licenses, in its .dist-info."""

import hashlib
import json
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "build-release" / "sources"

# Debian's names of the sources, with the licenses of what is compiled of them.
LICENSES = {
    "fmtlib": "MIT",
    "nlohmann-json3": "MIT",
    "zlib": "Zlib",
    "libdeflate": "MIT",
    "libzstd": "BSD-3-Clause",
    "xz-utils": "LicenseRef-public-domain",
    "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib",
    "libpng1.6": "libpng-2.0",
    "libwebp": "BSD-3-Clause",
    "lerc": "Apache-2.0",
    "openjpeg2": "BSD-2-Clause",
    "tiff": "libtiff",
    "libogg": "BSD-3-Clause",
    "libvorbis": "BSD-3-Clause",
    "opus": "BSD-3-Clause",
    "opusfile": "BSD-3-Clause",
}
# Parts of the compiler's own library, which its exception lets into any program, and what the tree has.
OTHERS = [
    ("libstdc++", "12", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("nanobind", None, "BSD-3-Clause"),
    ("dlpack", None, "Apache-2.0"),
    ("misc-fixed-8x13", None, "LicenseRef-public-domain"),
]


def dsc_of(source):
    return next(SOURCES.glob(f"{source}_*.dsc"))


def component(source, license_text):
    """One of Debian's sources: its version with Debian's patches, and the checksum of the original archive."""
    dsc = dsc_of(source)
    text = dsc.read_text()
    version = re.search(r"^Version: (\S+)", text, re.MULTILINE)[1]
    sums = re.search(r"^Checksums-Sha256:\n((?: .*\n)+)", text, re.MULTILINE)[1]
    original = next(line.split() for line in sums.splitlines() if ".orig.tar" in line and not line.endswith(".asc"))
    assert hashlib.sha256((SOURCES / original[2]).read_bytes()).hexdigest() == original[0], original[2]
    return entry(source, version, license_text) | {
        "purl": f"pkg:deb/debian/{source}@{version.replace('+', '%2B')}?arch=source",
        "hashes": [{"alg": "SHA-256", "content": original[0]}],
    }


def entry(name, version, license_text):
    made = {"type": "library", "name": name, "licenses": [{"expression": license_text}]}
    return made | ({"version": version} if version else {})


def bill(version, architecture, has_gpu):
    components = [component(source, text) for source, text in LICENSES.items()]
    components += [entry(*other) for other in OTHERS]
    if has_gpu:
        components.append(entry("cuda-cudart-static", "13", "LicenseRef-NVIDIA-CUDA-EULA"))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": entry("penstock", version, "Apache-2.0") | {"purl": f"pkg:pypi/penstock@{version}"},
            "properties": [{"name": "platform", "value": f"manylinux_2_28_{architecture}"}],
        },
        "components": components,
    }


def unpacked(source, architecture):
    return ROOT / "build-release" / architecture / "sources" / source


def add(info, architecture, has_gpu):
    """Writes both below a .dist-info folder."""
    version = re.search(r"^Version: (\S+)", (info / "METADATA").read_text(), re.MULTILINE)[1]
    (info / "sboms").mkdir(exist_ok=True)
    text = json.dumps(bill(version, architecture, has_gpu), indent=1) + "\n"
    (info / "sboms" / "penstock.cdx.json").write_text(text)
    licenses = info / "licenses" / "bundled"
    licenses.mkdir(parents=True, exist_ok=True)
    for source in LICENSES:
        shutil.copyfile(unpacked(source, architecture) / "debian" / "copyright", licenses / f"{source}.txt")
    nanobind = next(ROOT.glob(".venv/lib/python*/site-packages/nanobind-*.dist-info"))
    shutil.copyfile(nanobind / "licenses" / "LICENSE", licenses / "nanobind.txt")
