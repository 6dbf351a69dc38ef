# SPDX-License-Identifier: Apache-2.0
"""`__main__` of a process that a program under `python -m penstock.cvcuda` spawned: the program, with cvcuda installed."""

from ..dali import script
from . import install

if __name__ == "__mp_main__":
    install()
    globals().update(
        {k: v for k, v in script.spawned(__name__).items() if k not in ("__name__", "__spec__", "__loader__")}
    )
