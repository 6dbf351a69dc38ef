# SPDX-License-Identifier: Apache-2.0
"""What defines a pipeline, for the rooms that make it and ask about it: they need no executor."""


class Definition:
    """The options and the graph of a pipeline, and what belongs to nodes of the graph. Pipeline.definition is one.

    Args:
        options: The arguments of Pipeline.
        graph: The graph.
        also_runtime_error: Errors of add_node() are also of the type RuntimeError.
    """

    def __init__(self, options, graph, also_runtime_error=False):
        self.options, self.graph, self.also_runtime_error = options, graph, also_runtime_error
        self.sources = {}  # node -> object of penstock._sources
        self.fed = {}  # name -> FedNode
        self.functions = {}  # node -> (object of penstock._python_function or a plugin, the user's line)
        self.lent = []  # tables of other libraries that readers use (operators/arrow.py)
        self.form = None  # of outputs that are not a flat tuple (nested.py)
        self.built = False
        self.took = False  # nodes that were made outside it (free_nodes.py)
        self.sources_begin_anew = False  # at each reset(), from the start of their iterables

    def refer(self, node):
        """Called for each new DataNode; drafts remember theirs (free_nodes.py)."""

    def set_seed(self, seed):
        self.options["seed"] = seed
        self.graph.set_seed(seed)
