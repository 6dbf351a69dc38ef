# SPDX-License-Identifier: Apache-2.0
"""Pipeline and @pipeline_def."""

from ..base.public import public
from ..graph import DataNode
from .definition import pipeline_def
from .pipeline import Pipeline

public(__name__, Pipeline, pipeline_def)
