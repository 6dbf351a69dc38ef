# SPDX-License-Identifier: Apache-2.0
"""The site in a browser, and the notebooks. For `make test-long`, in .venv-docs; needs build/site/html, which `tools/check docs` makes.

Screenshots are in build/site/screens, for a person to look at.
"""

import http.server
import sys
import threading
from functools import partial
from pathlib import Path

import nbclient
import nbformat
import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tools"), str(ROOT / "tools" / "website")]
import notebooks  # noqa: E402

SITE = ROOT / "build" / "site" / "html"
SCREENS = ROOT / "build" / "site" / "screens"
PAGES = [
    "index.html", "gallery.html", "how_to/train_with_torch.html", "reference/operators/resize.html", "api/pipeline.html",
    "reference/torchaudio.html",
]  # fmt: skip
QUESTIONS = {  # what newcomers type, and the pages that answer
    "how do I use my own labels": ["how_to/begin_with_one_line", "how_to/train_with_torch", "notebooks/classification"],
    "resume": ["notebooks/resume", "how_to/train_with_torch", "how_to/go_to_a_batch", "reference/state"],
    "two GPUs": ["notebooks/two_gpus", "how_to/train_with_torch"],
    "boxes": ["reference/boxes", "how_to/move_parts_together", "notebooks/detection"],
    "my operator": ["how_to/add_an_operator", "how_to/use_your_own_functions", "notebooks/own_operator"],
}


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served():
    """The address of a server of the site."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def found(page, question):
    """The pages that the search box of a page shows for a question, best first."""
    page.keyboard.press("/")
    page.keyboard.type(question)
    page.wait_for_selector("li.md-search-result__item", timeout=20000)
    page.wait_for_timeout(1000)  # the list is redrawn while letters come
    links = page.locator("li.md-search-result__item > a").evaluate_all("all => all.map(a => a.href)")
    return [link.partition("?")[0].partition("#")[0] for link in links]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("at", ["disk", "server"])
def test_the_search_answers_newcomers(browser, served, at, question):
    page = browser.new_page()
    page.goto(f"{SITE.as_uri() if at == 'disk' else served}/index.html")
    first = found(page, question)[:3]
    page.close()
    assert any(link.endswith(f"/{answer}.html") for link in first for answer in QUESTIONS[question]), first


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device, width, height", [("desktop", 1280, 900), ("phone", 390, 844)])
def test_pages_fit_and_load_nothing_from_elsewhere(browser, scheme, device, width, height):
    SCREENS.mkdir(exist_ok=True)
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page, wrong = context.new_page(), []
    page.on("request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or wrong.append(r.url))
    page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
    for name in PAGES:
        page.goto(f"{SITE.as_uri()}/{name}")
        page.wait_for_timeout(300)
        page.screenshot(path=SCREENS / f"{name.replace('/', '_').removesuffix('.html')}_{device}_{scheme}.png")
        if (across := page.evaluate("document.documentElement.scrollWidth")) > width:
            wrong.append(f"{name} is {across} pixels wide")
        broken = page.evaluate(
            "[...document.images].filter(i => i.loading != 'lazy' && !i.naturalWidth).map(i => i.src)"
        )
        wrong += broken
    context.close()
    assert not wrong


@pytest.mark.parametrize("page", notebooks.sources(), ids=lambda page: page.stem)
def test_a_notebook_runs(page, tmp_path):
    notebook = nbformat.reads((SITE / "notebooks" / f"{page.stem}.ipynb").read_text(), as_version=4)
    assert [c.source for c in notebook.cells] == [text for _, text in notebooks.cells(page.read_text())]
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
