# SPDX-License-Identifier: Apache-2.0
"""The image processors of transformers as pipelines: the same pictures, from the same configuration."""

from .processor import Processor, processor
from .sampling import sample_frames

__all__ = ["Processor", "processor", "sample_frames"]
