# SPDX-License-Identifier: Apache-2.0
"""Albumentations from a folder of its own: its packages would replace those of other tests."""

import os
import sys
from pathlib import Path

FOLDER = str(Path(sys.prefix) / "albumentations")  # tools/requirements/albumentations.txt
os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # it asks the network for its newest version otherwise
sys.path.append(FOLDER)

import albumentations as theirs  # noqa: E402

sys.path.remove(FOLDER)
__all__ = ["theirs"]
