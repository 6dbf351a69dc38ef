# SPDX-License-Identifier: Apache-2.0
"""cvcuda.cuda, where earlier versions of CV-CUDA have their streams."""

from .streams import Stream, as_stream

__all__ = ["Stream", "as_stream"]
