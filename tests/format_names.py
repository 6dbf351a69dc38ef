# SPDX-License-Identifier: Apache-2.0
"""The names of formats in messages, as the formats are registered."""

from penstock import _core


def shown(kind, before_last):
    """ "WAV, FLAC ... or MP3": the formats of a kind, "picture" or "sound"."""
    *names, last = (title for of, _, title, _ in _core.file_formats() if of == kind)
    return f"{', '.join(names)} {before_last} {last}"
