# SPDX-License-Identifier: Apache-2.0
"""Modules that have moved. Pickles that an earlier version wrote name them."""

import importlib
import importlib.machinery
import sys

MOVED = {
    "batches": "operators.batches",
    "control_flow_ast": "control_flow.conversion",
    "dataset": "operators.dataset",
    "definition": "pipeline.definition",
    "mixing": "operators.mixing",
    "pickled_functions": "workers.pickled_functions",
    "pickled_pipelines": "pipeline.pickled",
    "statistics": "pipeline.statistics",
    "video": "operators.video",
    "worker_pool": "workers.pool",
}


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, last = name.rpartition(".")
        return importlib.machinery.ModuleSpec(name, _Finder) if package == __package__ and last in MOVED else None

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        now = importlib.import_module(f"{__package__}.{MOVED[module.__name__.rpartition('.')[2]]}")
        vars(module).update({name: value for name, value in vars(now).items() if not name.startswith("__")})


sys.meta_path.append(_Finder)
