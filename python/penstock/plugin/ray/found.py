# SPDX-License-Identifier: Apache-2.0
"""Ray, where it is installed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def ray_of(what: str) -> Any:
    """The module `ray`.

    Raises:
        ImportError: It is missing.
    """
    try:
        import ray
    except ImportError as error:
        raise ImportError(f"penstock.plugin.ray.{what} needs Ray ({error}): pip install ray") from None
    return ray
