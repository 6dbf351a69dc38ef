# SPDX-License-Identifier: Apache-2.0
"""Data sets of TensorFlow over pipelines; docs/how_to/train_with_tensorflow.md shows them at work.

TensorFlow is imported when a name is used first.
"""

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import experimental as experimental
    from .dataset import DALIDataset, PenstockDataset
    from .graph_outputs import DALIIterator, DALIIteratorWrapper, DALIRawIterator
    from .inputs import Input
    from .library import load

_PLACES = {  # name: the module that has it
    "PenstockDataset": "dataset",
    "DALIDataset": "dataset",
    "DALIIterator": "graph_outputs",
    "DALIIteratorWrapper": "graph_outputs",
    "DALIRawIterator": "graph_outputs",
    "Input": "inputs",
    "load": "library",
}

__all__ = ["DALIDataset", "DALIIterator", "DALIIteratorWrapper", "DALIRawIterator", "Input", "PenstockDataset", "load"]


def _imported_late(name):
    if name == "experimental":
        return importlib.import_module(f"{__name__}.experimental")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)


if not TYPE_CHECKING:
    __getattr__ = _imported_late


def __dir__():
    return [*__all__, "experimental"]


def dataset_compatible_tensorflow() -> bool:
    """Returns True: the operator works with every version of TensorFlow from 2.16 on."""
    return True


dataset_inputs_compatible_tensorflow = dataset_distributed_compatible_tensorflow = dataset_compatible_tensorflow
