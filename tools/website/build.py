# SPDX-License-Identifier: Apache-2.0
"""Builds the site: build/site/html, which a browser opens from the disk or from any server, without a network.

python tools/website/build.py        with the Python that has Penstock; MkDocs is that of .venv-docs
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent.parent / "tests")]  # tests/docstrings.py reads docstrings

import api_pages  # noqa: E402
import gallery  # noqa: E402
import navigation  # noqa: E402
import notebooks  # noqa: E402
import source_tree  # noqa: E402
from repository import ROOT  # noqa: E402

SITE = ROOT / "build" / "site"


def write_source(folder):
    """Writes all pages; returns the navigation."""
    tree = source_tree.Tree(folder)
    tree.copy_all()
    source_tree.with_pictures(folder, gallery.write(tree))
    api = api_pages.pages()
    for name, text in api.items():
        tree.write(name, text)
    shutil.copyfile(HERE / "site.css", folder / "site.css")
    notebooks.write(folder)
    return navigation.tree(
        list(api), ["notebooks/index.md", *(f"notebooks/{page.name}" for page in notebooks.sources())]
    )


def without_network(html):
    """The theme's offline search loads a script from a server: each page gets one of our own instead."""
    script = html / "assets" / "javascripts" / "frame_worker.js"
    shutil.copyfile(HERE / script.name, script)
    for page in html.rglob("*.html"):
        ours = os.path.relpath(script, page.parent)
        page.write_text(page.read_text().replace("https://unpkg.com/iframe-worker/shim", ours))


def main():
    shutil.rmtree(SITE, ignore_errors=True)
    (SITE / "source").mkdir(parents=True)
    nav = write_source(SITE / "source")
    settings = SITE / "mkdocs.yml"
    settings.write_text((HERE / "mkdocs.yml").read_text() + "nav: " + json.dumps(nav) + "\n")
    command = [ROOT / ".venv-docs" / "bin" / "mkdocs", "build", "--strict", "--config-file", settings]
    done = subprocess.run(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if done.returncode == 0:
        without_network(SITE / "html")
        print(f"the site is {(SITE / 'html' / 'index.html').relative_to(ROOT)}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
