# SPDX-License-Identifier: Apache-2.0
"""One line to begin: functions that make a loader of a data set, and show the pipeline that they made."""

from .._base.public import public
from .detection import detection
from .images import image_folder
from .loader import Loader
from .segmentation import segmentation
from .speech import speech

__all__ = ["Loader", "detection", "image_folder", "segmentation", "speech"]
public(__name__, *(globals()[name] for name in __all__))
