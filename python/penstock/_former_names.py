# SPDX-License-Identifier: Apache-2.0
"""Modules that have moved, or whose names have got an underscore. Programs and pickles of an earlier version name them; editors do not
offer them."""

import importlib.machinery
import sys

MOVED = {
    "batches": "_operators.batches",
    "control_flow_ast": "_control_flow.conversion",
    "dataset": "_operators.dataset",
    "definition": "_pipeline.definition",
    "mixing": "_operators.mixing",
    "pickled_functions": "_workers.pickled_functions",
    "pickled_pipelines": "_pipeline.pickled",
    "statistics": "_pipeline.statistics",
    "video": "_operators.video",
    "worker_pool": "_workers.pool",
}
PRIVATE = (
    "base",
    "command_line",
    "commands",
    "control_flow",
    "debugging",
    "former_names",
    "function",
    "graph",
    "native",
    "operators",
    "pipeline",
    "python_function",
    "settings",
    "sources",
    "tensors",
    "workers",
)


def now(name):
    """The name that a module of this package has now, such as "penstock._graph.node" for "penstock.graph.node"; None: none had this one."""
    package, _, path = name.partition(".")
    if package != __package__:
        return None
    if path in MOVED:
        return f"{package}.{MOVED[path]}"
    return f"{package}._{path}" if path.partition(".")[0] in PRIVATE else None


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        there = now(name)
        if there is None:
            return None
        import importlib.util  # late: few programs need it

        found = importlib.util.find_spec(there)
        if found is None:
            return None
        package = found.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(name, _Finder, is_package=package)

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        found = importlib.import_module(now(module.__name__))
        shown = ("__all__", "__doc__", "__file__")
        vars(module).update({k: v for k, v in vars(found).items() if k in shown or not k.startswith("__")})

    @staticmethod
    def get_code(name):
        """What python -m runs."""
        there = now(name)
        return importlib.util.find_spec(there).loader.get_code(there)


sys.meta_path.append(_Finder)
