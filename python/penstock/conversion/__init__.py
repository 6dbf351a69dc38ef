# SPDX-License-Identifier: Apache-2.0
"""Converts data sets from one format to another: folders of classes, COCO, tar, TFRecord, Parquet, MDS."""

from .._base.public import public
from .run import ConversionError, Finding, convert, verify

__all__ = ["ConversionError", "Finding", "convert", "verify"]
public(__name__, *(globals()[name] for name in __all__))
