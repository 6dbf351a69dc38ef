# SPDX-License-Identifier: Apache-2.0
"""Names of DALI's data set with inputs."""

from .dataset import PenstockDataset as DALIDatasetWithInputs
from .inputs import Input

__all__ = ["DALIDatasetWithInputs", "Input"]
