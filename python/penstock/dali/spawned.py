# SPDX-License-Identifier: Apache-2.0
"""`__main__` of a process that a script under `python -m penstock.dali` spawned: the script, with nvidia.dali installed."""

from . import install, script

if __name__ == "__mp_main__":
    install()
    globals().update(
        {k: v for k, v in script.spawned(__name__).items() if k not in ("__name__", "__spec__", "__loader__")}
    )
