# SPDX-License-Identifier: Apache-2.0
"""docs/reference/settings.md: every setting that is read from the environment, and those of the build.

The library's come from the table in src/base/settings.h. Those of tests and tools are listed here. Who reads a setting is found in
the tree; a listed setting that nothing reads is an error, and so is one that is read and not listed (tools/lint.py).
"""

import re
from pathlib import Path

from repository import ROOT, tracked

MADE_FROM = "settings"
PAGE = "docs/reference/settings.md"
TABLES = {"src/base/settings.h", "tools/generate_settings.py"}
READING = {".cpp", ".h", ".py", ".sh", ""}  # "": tools/check

# name: (values, what holds where it is not set, meaning)
OF_TESTS = {
    "PENSTOCK_TEST_COUNT": ("a number", "20", "Random cases of each test. `make test-long` takes 300."),
    "PENSTOCK_TEST_PROGRAMS": ("a number", "by the test", "Random programs of the tests that write programs."),
    "PENSTOCK_TEST_SEED": ("a number", "the run's own", "Selects other random programs for the GPU's tests."),
    "PENSTOCK_TEST_LONG": ("a number", "1", "Factor for the counts of the C++ tests with damaged files."),
    "PENSTOCK_TEST_SLOW": ("a number", "1", "Factor for the times that tests of a program's end allow."),
    "PENSTOCK_TEST_GPU": ("`real`", "the emulated GPU", "tests/gpu run on the machine's GPU."),
    "PENSTOCK_TEST_CUFILE": (
        "`1`",
        "not set",
        "A copy over the host's memory is a failure where cuFile should have read.",
    ),
    "PENSTOCK_TEST_VIDEOS": ("a folder", "made by the command ffmpeg", "The videos of the tests of NVDEC."),
    "PENSTOCK_BUILD": ("a folder", "`build`", "The build folder whose programs tests run."),
    "PENSTOCK_PHOTOS": (
        "folders, separated by colons",
        "the test is skipped; in CI that is a failure",
        "Files of real cameras.",
    ),
    "PENSTOCK_DALI_PYTHON": ("a file", "`.venv-dali/bin/python`", "The Python that has DALI, the oracle."),
    "PENSTOCK_MOTO_SERVER": (
        "a file",
        "required by tests/remote_long.py",
        "An S3 server for the long tests of remote storage.",
    ),
    "PENSTOCK_FUZZ_SECONDS": ("a number", "600", "Seconds of each fuzzer in `make test-long`."),
    "PENSTOCK_FUZZERS_AT_ONCE": ("a number", "as many as there are cores", "Fuzzers that run at the same time."),
    "PENSTOCK_MUTATED_FILES": ("a number", "100000", "Damaged files in `make test-long`."),
    "PENSTOCK_SITE": ("a folder", "a folder of its own", "benchmarks/gpu/run.sh: where the wheel is unpacked."),
    "PENSTOCK_DATA": ("a folder", "a folder of its own", "benchmarks/gpu/run.sh: where data are made."),
    "PENSTOCK_PEERS": (
        "a folder",
        "not set",
        "benchmarks/gpu/run.sh: Python packages of the libraries that Penstock is compared with.",
    ),
    "PENSTOCK_EMULATED_GPUS": ("a number", "2", "How many GPUs the emulation has."),
    "PENSTOCK_EMULATED_COMPILER": ("`off`, `none` or `nvrtc`", "g++", "Which kernels the emulation compiles."),
    "PENSTOCK_EMULATED_COMPILE_MS": ("milliseconds", "0", "How much longer a compilation takes."),
    "PENSTOCK_EMULATED_DECODER": (
        "`0`, `hardware`, `cuda`, `idle` or `own`",
        "`cuda`, then `hardware`",
        "Which JPEG decoders the emulation has.",
    ),
    "PENSTOCK_EMULATED_DECODER_FAILS": ("a number n", "0", "Each n-th image fails."),
    "PENSTOCK_EMULATED_DECODER_REGIONS": ("`0` or `1`", "`1`", "Whether the decoder takes regions."),
    "PENSTOCK_EMULATED_GROUP": ("a number", "64", "The best number of images in a group."),
    "PENSTOCK_EMULATED_LANES": ("a number", "by the decoder", "Groups at the same time."),
    "PENSTOCK_EMULATED_LATENCY": ("microseconds", "0", "How late the GPU ends its work."),
    "PENSTOCK_EMULATED_LAUNCHES": ("any text", "not set", "Kernels and copies do nothing, to measure the host."),
    "PENSTOCK_EMULATED_LOG": ("a file", "not set", "Gets a line for each call that streams order."),
    "PENSTOCK_EMULATED_MEMORY": ("bytes", "no limit", "Memory of each GPU."),
    "PENSTOCK_EMULATED_NVJPEG2000": (
        "`decodes`, `inverts` or `fails`",
        "not set",
        "JPEG 2000 goes to a stand-in for nvJPEG2000.",
    ),
    "PENSTOCK_EMULATED_NVTIFF": ("`decodes`, `inverts` or `fails`", "not set", "TIFF goes to a stand-in for nvTIFF."),
    "PENSTOCK_EMULATED_TEXTS": (
        "a folder",
        "not set",
        "Kernels are written there and do nothing; the file `launches` names each that starts.",
    ),
    "PENSTOCK_EMULATED_PROTECT": (
        "any text",
        "1 in tests/gpu",
        "The host that touches memory of the GPU ends, and so does a kernel that goes past its end.",
    ),
    "PENSTOCK_EMULATED_POISON": (
        "any text",
        "not set",
        "New memory holds one byte, and a copy of unwritten memory is an error.",
    ),
    "PENSTOCK_CHECK_NVRTC": ("any text", "not set", "NVRTC also compiles each kernel of the emulation."),
    "PENSTOCK_KEEP_KERNELS": ("any text", "not set", "The sources of the emulation's kernels are kept."),
    "PENSTOCK_STANDIN_LOG": ("a file", "not set", "The stand-in for NVRTC writes its calls there."),
    "PENSTOCK_STANDIN_COMPILE_MS": ("milliseconds", "0", "How long a compilation of the stand-in for NVRTC takes."),
    "PENSTOCK_STANDIN_COMPILE_UNTIL": (
        "a file",
        "not set",
        "A compilation of the stand-in for NVRTC does not end before it exists.",
    ),
    "PENSTOCK_STANDIN_CUFILE": (
        "`start`, `files`, `memory`, `read`, `errno`, `short` or `end`",
        "not set",
        "What fails in the stand-in for cuFile.",
    ),
    "PENSTOCK_STANDIN_CUFILE_LOG": ("a file", "not set", "The stand-in for cuFile writes its calls there."),
    "PENSTOCK_STANDIN_DAMAGED": ("a number n", "0", "The stand-in for NVDEC calls each n-th picture damaged."),
    "PENSTOCK_STANDIN_LEAST": ("a number", "16", "The least width and height that the stand-in for NVDEC takes."),
    "PENSTOCK_STANDIN_TOP": ("a number", "0", "Rows above the picture in the surfaces of the stand-in for NVDEC."),
}

TOP = """# Settings

<!-- Generated by tools/generate.py from src/base/settings.h, CMake's files and tools/generate_settings.py. -->

What Penstock reads from the environment of its process. Set a variable before the program starts: most are read once. An option of
`Pipeline` or an argument of an operator has precedence over the setting of the same meaning. An empty value is as good as none,
except that of `CUDA_VISIBLE_DEVICES`.
"""
SECTIONS = (
    ("daily", "General", "What is kept where, what is an error, and what is said."),
    (
        "library",
        "Libraries",
        "Penstock loads these libraries when they are first needed. `penstock info` says which it has found.",
    ),
    (
        "check",
        "For comparisons",
        "Each of these turns off something that makes Penstock fast. For tests and measurements.",
    ),
    ("internal", "Between processes", "Penstock sets these for processes that it starts. Do not set them."),
)
ELSEWHERE = """## Read by others

- Readers of `s3://`, `gs://` and `http(s)://` leave credentials, proxies and certificates to the package obstore, which reads
  `AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS` and similar variables. See
  [read from remote storage](../how_to/read_from_remote_storage.md).
- If NVIDIA's driver is installed, CUDA reads variables of its own, such as `CUDA_VISIBLE_DEVICES`.
- The loader reads `LD_LIBRARY_PATH` when it looks for a library by its name.
"""


def texts():
    """{file: text} of all files that may read a setting."""
    files = [f for f in tracked() if Path(f).suffix in READING and f not in TABLES and not f.startswith("docs")]
    return {f: re.sub(r"//.*", "", (ROOT / f).read_text(errors="replace")) for f in files}


def readers_of(name, files):
    """Where the name stands as a text (C++, Python) or as a variable (shell)."""
    stands = re.compile(rf'"{name}"|\$\{{?{name}\b')
    return [f for f, text in files.items() if name in text and stands.search(text)]


def folders(files):
    """For tests, whose files change often."""
    return sorted({str(Path(f).parent) for f in files})


def table(rows, head):
    return (
        "\n".join(
            ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(r) + " |" for r in rows)]
        )
        + "\n"
    )


def row(name, values, otherwise, places, *more):
    if not places:
        raise SystemExit(f"nothing reads the setting {name}: take it out of its table")
    return f"`{name}`", values, otherwise, *more, ", ".join(f"`{p}`" for p in places)


def options_of_cmake():
    text = "\n".join(
        (ROOT / f).read_text() for f in ("CMakeLists.txt", "cmake/codec_libraries.cmake", "cmake/prebuilt.cmake")
    )
    for name, doc, otherwise in re.findall(r'option\((PENSTOCK_\w+) "([^"]+)" (\w+)\)', text):
        yield f"`{name}`", f"`{otherwise}`", doc
    for name, otherwise, doc in re.findall(r'set\((PENSTOCK_\w+) (\S+) CACHE (?:STRING|PATH)\s+"([^"]+)"', text):
        yield f"`{name}`", f"`{otherwise}`" if otherwise != '""' else "", doc


def generate(settings):
    files = texts()
    ours = {f: t for f, t in files.items() if f.startswith(("src", "python")) and not Path(f).stem.endswith("_test")}
    others = {f: t for f, t in files.items() if f not in ours or f.endswith("test_decodes.h")}
    parts = [TOP]
    for use, title, lead in SECTIONS:
        rows = [
            row(s["name"], s["values"], s["otherwise"], readers_of(s["name"], ours), s["when"], s["meaning"])
            for s in settings
            if s["use"] == use
        ]
        parts.append(
            f"## {title}\n\n{lead}\n\n" + table(rows, ("setting", "values", "not set", "read", "meaning", "read by"))
        )
    parts.append(ELSEWHERE)
    parts.append(
        "## Build options\n\nOptions of CMake (`-DNAME=VALUE`).\n\n"
        + table(options_of_cmake(), ("option", "not set", "meaning"))
    )
    rows = [
        row(name, values, otherwise, folders(readers_of(name, others)), meaning)
        for name, (values, otherwise, meaning) in OF_TESTS.items()
    ]
    parts.append(
        "## Tests, tools and benchmarks\n\nThe library does not read these. `PENSTOCK_<PEER>_PYTHON` names the Python of a "
        "library that benchmarks compare with; a test that is skipped is a failure where `CI` is set.\n\n"
        + table(rows, ("setting", "values", "not set", "meaning", "read by"))
    )
    return {PAGE: "\n".join(parts)}
