# SPDX-License-Identifier: Apache-2.0
"""The graph of a pipeline for Graphviz."""

import json


def dot_text(graph, show_tensors=False, use_colors=False):
    nodes = json.loads(graph.to_json())["nodes"]
    lines = ["digraph pipeline {"]
    for k, node in enumerate(nodes):
        color = ' style=filled fillcolor="lightblue"' if use_colors else ""
        lines.append(f'  n{k} [label="{node["name"]}"{color}];')
        references = [*node.get("inputs", []), *node.get("per_sample", {}).values()]
        lines += [
            f"  n{source} -> n{k}" + (f' [label="{output}"]' if show_tensors else "") + ";"
            for source, output in references
        ]
    return "\n".join([*lines, "}", ""])
