# SPDX-License-Identifier: Apache-2.0
"""What types call of the modules that are built on them: those put their functions here when they are imported."""

from typing import Any

functions: dict[str, Any] = {}  # "arithmetic", "call", "as_batch", "as_tensor", "readers"
