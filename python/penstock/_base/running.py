# SPDX-License-Identifier: Apache-2.0
"""The pipelines that run. They are closed before the interpreter ends: their threads may call Python."""

import atexit
import weakref

running = weakref.WeakSet()


def close_all():
    for pipeline in [p for p in running if not p.used_elsewhere()]:  # daemon threads continue
        pipeline.close()


atexit.register(close_all)
