# SPDX-License-Identifier: Apache-2.0
"""What the site is made of: the calls of the gallery run, every page has a place, and notebooks are what their pages say.
tests/website_long.py looks at the site itself in a browser."""

import sys
from pathlib import Path

import pytest
from penstock import _core

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tools"), str(ROOT / "tools" / "website")]
import api_pages  # noqa: E402
import gallery  # noqa: E402
import gallery_calls  # noqa: E402
import navigation  # noqa: E402
import notebooks  # noqa: E402
import scenes  # noqa: E402
import source_tree  # noqa: E402


def test_the_gallery_has_every_operator_once():
    names = [name for members in gallery.families().values() for name in members]
    assert sorted(names) == sorted(_core.operators())
    assert set(gallery_calls.CALLS) <= set(names)


@pytest.mark.parametrize("family", gallery.families())
def test_the_pictures_of_a_family(family):
    """Each call runs without a warning, and its two halves are not both empty."""
    names = scenes.scene()
    for name in gallery.families()[family]:
        call, picture = gallery.drawn(name, names)
        if call:
            assert f"fn.{name}(" in call
            assert picture.size == (652, 240) and len(picture.getcolors(1 << 20)) > 2, name
        else:
            assert gallery.example(name), name


def test_every_page_has_its_place():
    how_to = [name for names in navigation.HOW_TO.values() for name in names]
    assert sorted(how_to) == sorted(p.stem for p in (ROOT / "docs" / "how_to").glob("*.md"))
    assert len(how_to) == len(set(how_to))
    for folder, names in (
        ("reference", navigation.CHEAT_SHEETS + navigation.REFERENCE),
        ("explanation", navigation.EXPLANATION),
        ("examples", navigation.EXAMPLES),
    ):
        found = {p.stem for p in (ROOT / "docs" / folder).glob("*.md")}
        assert found - {"operators"} == set(names), folder


def test_links_lead_to_places_of_the_site(tmp_path):
    tree = source_tree.Tree(tmp_path)
    assert tree.link("README.md", "docs/how_to/read_video.md#on-a-gpu") == "how_to/read_video.md#on-a-gpu"
    assert tree.link("docs/how_to/read_video.md", "../../README.md") == "../index.md"
    assert tree.link("docs/how_to/read_video.md", "../../examples/ssd.py") == "../files/examples/ssd.py"
    assert tree.link("docs/how_to/read_video.md", "../../src") is None
    assert tree.link("README.md", "docs/how_to") == "how_to/index.md"
    assert tree.linked("README.md", "[a `b`](src) and [c](https://d.e)") == "a `b` and [c](https://d.e)"


def test_pages_of_the_interface_have_examples():
    """The docstrings are tested by test_docstrings.py; here they are on their pages."""
    pages = api_pages.pages()
    for name in ("pipeline", "data_loader", "batch", "sample", "types", "loaders"):
        assert "```python" in pages[f"api/{name}.md"] and len(pages[f"api/{name}.md"]) > 1000, name
    assert api_pages.described("Makes a <b>.\n\nArgs:\n    a (int): One\n        more.\n\nExample:\n    >>> 1\n    1") == [
        "Makes a &lt;b>.", "", "**Arguments**", "", "- `a (int)`: One more.", "", "```python", ">>> 1", "1", "```", "",
    ]  # fmt: skip


def test_a_notebook_has_the_cells_of_its_page():
    made = notebooks.notebook("# T\n\nOne.\n\n```python\na = 1\n```\n\n```text\nb\n```\n\n```python\nc = 2\n```\n")
    assert [(c["cell_type"], c["source"]) for c in made["cells"]] == [
        ("markdown", "# T\n\nOne."), ("code", "a = 1"), ("markdown", "```text\nb\n```"), ("code", "c = 2"),
    ]  # fmt: skip
    assert len(notebooks.sources()) == 12
    for page in notebooks.sources():
        for cell in notebooks.notebook(page.read_text())["cells"]:
            if cell["cell_type"] == "code":
                compile(cell["source"], page.name, "exec")
