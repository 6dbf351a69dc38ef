# SPDX-License-Identifier: Apache-2.0
"""python -m penstock.dali SCRIPT [ARGUMENT...]: runs a script for DALI. `-m MODULE` runs a module. With tfrecord2idx, rec2idx
or wds2idx in the place of the script: DALI's command of this name."""

import sys

from . import index_files, install
from .script import run


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] == "-m" and len(arguments) < 2):
        print(__doc__, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if arguments[0] in index_files.COMMANDS:
        return index_files.COMMANDS[arguments[0]](arguments[1:])
    install()
    run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
