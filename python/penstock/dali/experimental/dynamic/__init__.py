# SPDX-License-Identifier: Apache-2.0
"""DALI's dynamic mode: operators that run at once, on Tensors and Batches with DALI's names.

    import penstock.dali.experimental.dynamic as ndd

    for files, labels in ndd.readers.File(file_root="photos").next_epoch(batch_size=32):
        images = ndd.resize(ndd.decoders.image(files), size=[224, 224])

Each call runs before it returns, in every EvalMode. `penstock.fn` does the same with arrays, Tensors and Batches.
"""

from ....types import DALIDataType as DataType
from ....types import DALIImageType as ImageType
from ....types import DALIInterpType as InterpType
from . import generators, reading
from .batches import Batch, as_batch, batch
from .devices import Device, EvalContext, EvalMode, device, get_num_threads, set_num_threads
from .element_types import (
    DType,
    bfloat16,
    bool,  # noqa: A004  DALI's name
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .groups import Operators
from .reading import ExternalSource, imread
from .tensors import Tensor, as_tensor, tensor

__all__ = [
    "Batch",
    "DType",
    "DataType",
    "Device",
    "EvalContext",
    "EvalMode",
    "ExternalSource",
    "ImageType",
    "InterpType",
    "Tensor",
    "as_batch",
    "as_tensor",
    "batch",
    "bfloat16",
    "bool",
    "device",
    "dtype",
    "float16",
    "float32",
    "float64",
    "get_num_threads",
    "imread",
    "int16",
    "int32",
    "int64",
    "int8",
    "set_num_threads",
    "tensor",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
Operators.replace_module(__name__)
