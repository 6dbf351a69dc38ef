# SPDX-License-Identifier: Apache-2.0
"""Notebooks from the pages of docs/notebooks: a block of Python is a cell, and so is the text between two of them."""

import json
import re

from repository import ROOT

FOLDER = ROOT / "docs" / "notebooks"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def cells(text):
    """(is it code, text) of each cell of a page."""
    at = 0
    for block in BLOCK.finditer(text):
        if between := text[at : block.start()].strip():
            yield False, between
        yield True, block[1].rstrip("\n")
        at = block.end()
    if rest := text[at:].strip():
        yield False, rest


def notebook(text):
    """A page as a notebook of nbformat 4.5, without outputs."""
    made = []
    for number, (code, content) in enumerate(cells(text)):
        cell = {"cell_type": "code" if code else "markdown", "id": f"cell-{number}", "metadata": {}}
        made.append({**cell, **({"execution_count": None, "outputs": []} if code else {}), "source": content})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def sources():
    return sorted(FOLDER.glob("*.md"))


def write(folder):
    """Writes NAME.ipynb beside each page of folder/notebooks, and a line on the page that leads to it."""
    for page in sources():
        text = page.read_text()
        (folder / "notebooks" / f"{page.stem}.ipynb").write_text(json.dumps(notebook(text), indent=1))
        shown = folder / "notebooks" / page.name
        heading = re.search(r"^# .*$", text, re.MULTILINE)[0]
        line = f'{heading}\n\n<a href="{page.stem}.ipynb" download>This page as a notebook</a>'
        shown.write_text(shown.read_text().replace(heading, line, 1))
