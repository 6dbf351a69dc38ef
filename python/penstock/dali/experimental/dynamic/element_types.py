# SPDX-License-Identifier: Apache-2.0
"""Element types of the dynamic mode: objects that convert when they are called."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._base.element_types import DType as TypeId
from . import later


@dataclass(frozen=True)
class DType:
    """An element type. Called with data it makes a Tensor of that type, with a Batch a Batch.

    Args:
        kind: Signed, unsigned, float or bool.
        bits: The size.
        type_id: The member of types.DALIDataType.
        name: The name, as in the module.
        exponent_bits, significand_bits: The bits of the parts of a floating point number.
    """

    class Kind(enum.Enum):
        """What numbers a type has."""

        signed = 1
        unsigned = 2
        float = 3
        bool = 4

    kind: Kind
    bits: int
    type_id: TypeId
    name: str
    exponent_bits: int | None = None
    significand_bits: int | None = None

    @property
    def bytes(self) -> int:
        """The size of an element in bytes."""
        return (self.bits + 7) // 8

    def __repr__(self):
        return f"DType({self.name})"

    def __str__(self):
        return "bool" if self.kind is DType.Kind.bool else f"{self.name[0]}{self.bits}"

    def __call__(self, data: Any, device: Any = None, layout: str | None = None) -> Any:
        make = "as_batch" if hasattr(data, "batch_size") else "as_tensor"
        return later.functions[make](data, dtype=self, device=device, layout=layout)

    @staticmethod
    def parse(value: Any) -> DType:
        """The DType of a name, a NumPy type, a member of types.DALIDataType, or a DType.

        Args:
            value: The type.
        """
        return dtype(value)


def _made(name, kind, bits, *sizes):
    identifier = TypeId.FLOAT if name == "float32" else getattr(TypeId, name.upper())
    return DType(kind, bits, identifier, name, *sizes)


_KIND = DType.Kind
int8, int16, int32, int64 = (_made(f"int{n}", _KIND.signed, n) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_made(f"uint{n}", _KIND.unsigned, n) for n in (8, 16, 32, 64))
float16, float32, float64 = (
    _made(f"float{n}", _KIND.float, n, e, s) for n, e, s in ((16, 5, 10), (32, 8, 23), (64, 11, 52))
)
bfloat16 = _made("bfloat16", _KIND.float, 16, 8, 7)
bool = _made("bool", _KIND.bool, 8)  # noqa: A001  DALI's name
_ALL = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16, bool)
_BY_ID = {t.type_id: t for t in _ALL}
_SHORT = {"b": bool, "bf16": bfloat16} | {f"{t.name[0]}{t.bits}": t for t in _ALL if t.name[0] != "b"}


def dtype(value: Any) -> DType:
    """The DType of a name, a NumPy or torch type, a member of types.DALIDataType, or a DType.

    Args:
        value: The type.

    Returns:
        The DType.

    Raises:
        TypeError: There is no such type.

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> ndd.dtype("uint8")
        DType(uint8)
    """
    if isinstance(value, DType):
        return value
    if value in _BY_ID:
        return _BY_ID[value]
    name = value if isinstance(value, str) else getattr(value, "__name__", None) or str(value)
    name = name.rpartition(".")[2]
    found = _SHORT.get(name) or {t.name: t for t in _ALL}.get(name)
    if found is None and not isinstance(value, str):
        try:
            found = {t.name: t for t in _ALL}.get(np.dtype(value).name)
        except TypeError:
            found = None
    if found is None:
        raise TypeError(f"{value!r} is not an element type here; they are {', '.join(t.name for t in _ALL)}")
    return found


def type_id(value: Any) -> Any:
    """What operators take: the member of types.DALIDataType; None stays None."""
    return None if value is None else dtype(value).type_id
