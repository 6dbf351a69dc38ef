# SPDX-License-Identifier: Apache-2.0
"""What trainers and workers say to each other about batches."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class Ask:
    """From a trainer: make these batches. To ask twice is as good as once."""

    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Drop:
    """From a trainer: these batches are not needed any more."""

    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Made:
    """From a worker: a batch, or the error that stands in its place."""

    number: int
    content: Any


@dataclass(frozen=True)
class Leaving:
    """From a worker: it makes nothing more. What was requested of it and not sent, others must make."""
