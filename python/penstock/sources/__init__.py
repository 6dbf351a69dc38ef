# SPDX-License-Identifier: Apache-2.0
"""Where pipelines get data of the program: external_source."""

from ..base.public import public
from .external import begin_anew, external_source, without_unread
from .fed import FedNode, FedVideo, as_batch

__all__ = ["FedNode", "FedVideo", "as_batch", "begin_anew", "external_source", "without_unread"]
public(__name__, external_source)
