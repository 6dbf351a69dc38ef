# SPDX-License-Identifier: Apache-2.0
"""The lists of formats in hand-written pages: names in docs/how_to/decode_images.md, a table in docs/reference/image_formats.md,
suffixes in docs/how_to/prepare_image_files.md. They are between two comments, and come from the registrations in src/codecs.
"""

import re
import textwrap

from repository import ROOT

MADE_FROM = "formats"


def filled(page, name, text):
    """The page with the text between its two comments of this name."""
    begin, end = f"<!-- {name}: written by tools/generate.py -->\n", f"<!-- end of {name} -->\n"
    old = (ROOT / page).read_text()
    new, n = re.subn(
        f"{re.escape(begin)}.*?{re.escape(end)}", lambda m: f"{begin}\n{text}\n{end}", old, flags=re.DOTALL
    )
    if n != 1:
        raise SystemExit(f"{page}: the place of '{name}' is not there once")
    return new


def table(images):
    rows = (f"| {f['title']} | {f['taken']} | {f['window_reads']} | {f['library']} |" for f in images)
    return "\n".join(["| format | taken | a window reads | library |", "|---|---|---|---|", *rows]) + "\n"


def names(images):
    return textwrap.fill(", ".join(f["title"] for f in images) + ".", 110) + "\n"


def suffixes(files):
    def of(kind):
        return " ".join(s for f in files if f["kind"] == kind for s in f["suffixes"])

    return (
        "\n".join(
            textwrap.fill(f"- {what}: {of(kind)}", 110, subsequent_indent="  ")
            for what, kind in (("pictures", "picture"), ("sound", "sound"))
        )
        + "\n"
    )


def generate(formats):
    decode, detail = "docs/how_to/decode_images.md", "docs/reference/image_formats.md"
    prepare = "docs/how_to/prepare_image_files.md"
    return {
        decode: filled(decode, "names", names(formats["images"])),
        detail: filled(detail, "formats", table(formats["images"])),
        prepare: filled(prepare, "suffixes", suffixes(formats["files"])),
    }
