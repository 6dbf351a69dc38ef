# SPDX-License-Identifier: Apache-2.0
"""Pipeline and @pipeline_def."""

from .._base.public import public
from .._graph import DataNode
from .definition import pipeline_def
from .driver import Driver, OutputInfo, Step
from .pipeline import Pipeline

__all__ = ["DataNode", "Driver", "OutputInfo", "Pipeline", "Step", "pipeline_def"]
public(__name__, Driver, OutputInfo, Step)
public("penstock", Pipeline, pipeline_def)
