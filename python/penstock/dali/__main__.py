# SPDX-License-Identifier: Apache-2.0
"""python -m penstock.dali SCRIPT [ARGUMENT...]: runs a script for DALI. `-m MODULE` runs a module."""
import os
import runpy
import sys

from . import install


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] == "-m" and len(arguments) < 2):
        print(__doc__, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
