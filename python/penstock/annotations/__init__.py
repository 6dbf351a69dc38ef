# SPDX-License-Identifier: Apache-2.0
"""Annotations of data sets as tables: COCO, Pascal VOC, YOLO, LabelMe, folders, and lists in CSV, JSON lines or Parquet."""

from .._base.public import public
from .coco import coco
from .folders import image_folder, image_pairs
from .labelme import labelme
from .manifests import manifest
from .table import Table
from .voc import voc
from .yolo import yolo

__all__ = ["Table", "coco", "image_folder", "image_pairs", "labelme", "manifest", "voc", "yolo"]
public(__name__, *(globals()[name] for name in __all__))
