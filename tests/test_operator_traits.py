# SPDX-License-Identifier: Apache-2.0
"""What the executor, the planner and the debug mode know about single operators is in their schemas, as traits."""

import importlib.util
import sys
from pathlib import Path

import pytest
from penstock import Pipeline, _core, fn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))  # lint.py imports from there


def with_trait(trait):
    return {name: value for name in _core.operators(True) if (value := _core.operator_schema(name)[trait])}


def test_the_traits_of_operators():
    assert with_trait("fits_all") == {"constant": True}
    assert with_trait("calls_back") == {"python_function": True, "numba_function": True}
    assert with_trait("fed") == {"external_source": "batches", "experimental.inputs.video": "video"}
    in_place = ["_assign", "_assign_at", "_assign_where", "expand_dims", "pad", "reshape", "squeeze"]
    in_place += ["draw_boxes", "draw_circles", "draw_lines", "draw_text"]
    assert with_trait("in_place") == dict.fromkeys(in_place, True)
    videos = ["decoders.video", "experimental.readers.video", "readers.video"]
    assert with_trait("decodes_to_device") == dict.fromkeys(videos, True)


def test_a_graph_says_what_is_fed():
    with Pipeline(batch_size=1, num_threads=1) as pipe:
        pipe.set_outputs(
            fn.external_source(name="x"), fn.experimental.inputs.video(name="v", sequence_length=2), fn.random.uniform()
        )
    graph = pipe.definition.graph
    assert [graph.fed(k) for k in range(graph.nodes())] == ["batches", "video", ""]


@pytest.fixture(scope="module")
def lint():
    spec = importlib.util.spec_from_file_location("house_lint", ROOT / "tools" / "lint.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "file, line, name",
    [
        ("src/graph/domains.cpp", 'return n.op == "constant" && n.inputs.empty();', "constant"),
        ("src/graph/prune.cpp", 'if (reads && nodes[i].op != "external_source") keep();', "external_source"),
        ("src/graph/prune.cpp", 'if ("external_source" == node.op) keep();', "external_source"),
        ("src/exec/steps/call.cpp", 'if (op == "numba_function") continue;', "numba_function"),
        ("src/exec/steps/call.cpp", 'if (info.name != "random.uniform") continue;', "random.uniform"),
        ("src/exec/executor.cpp", 'if (n.op.starts_with("readers.")) continue;', "readers."),
        ("python/penstock/_debugging/run.py", 'if self.records.get(ref.node, ("",))[0] == "constant":', "constant"),
        ("python/penstock/_debugging/run.py", 'return not op.startswith("readers.")', "readers."),
        ("python/penstock/_pipeline/saved.py", 'elif stored.op_of(index) == "pad":', "pad"),
        ("python/penstock/_graph/building.py", 'if op in ("constant", "full"):', "constant"),
        ("python/penstock/_graph/building.py", "if name == 'external_source':", "external_source"),
    ],
)
def test_lint_refuses_an_operator_that_is_known_by_name(lint, file, line, name):
    found = list(lint.check_names(ROOT / file, [line], {"external_source", "random.uniform"}))
    assert len(found) == 1 and f"'{name}'" in found[0][1]


@pytest.mark.parametrize(
    "file, line",
    [
        ("src/codecs/video/frame_choice.cpp", 'if (name == "constant") return FramePadding::constant;'),
        ("src/exec/executor.cpp", 'if (x) go();  // op == "constant"'),
        ("python/penstock/dali/fn.py", 'if path == "external_source":'),
        ("python/penstock/_graph/building.py", 'add_node("constant", ())'),
    ],
)
def test_lint_allows_other_words_and_what_is_listed(lint, file, line):
    assert not list(lint.check_names(ROOT / file, [line], {"external_source"}))
