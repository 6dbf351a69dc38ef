# SPDX-License-Identifier: Apache-2.0
"""python -m penstock.cvcuda PROGRAM [ARGUMENT...]: runs a program for CV-CUDA. `-m MODULE` runs a module."""

import sys

from ..dali.script import run
from . import install


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] == "-m" and len(arguments) < 2):
        print(__doc__, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    install()
    run(arguments, f"{__package__}.spawned")
    return 0


if __name__ == "__main__":
    sys.exit(main())
