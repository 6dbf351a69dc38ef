# SPDX-License-Identifier: Apache-2.0
"""Data of the program in pipelines: external_source."""

from .._base.public import public
from .external import begin_anew, external_source, without_unread
from .fed import FedNode, FedVideo, as_batch

__all__ = ["FedNode", "FedVideo", "as_batch", "begin_anew", "external_source", "without_unread"]
public(__name__, external_source)
