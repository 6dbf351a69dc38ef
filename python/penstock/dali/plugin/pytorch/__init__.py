# SPDX-License-Identifier: Apache-2.0
"""Iterators of penstock.plugin.pytorch that take an unknown reader_name for the pipeline's only reader."""

from ....plugin import pytorch as native
from ....plugin.pytorch import LastBatchPolicy, feed_ndarray, fn
from ...meanings import say
from ...ops import Operator

__all__ = [*native.__all__, "TorchPythonFunction"]


class _OnlyReader:
    def reader_named(self, name):
        readers = list(self.pipelines[0].reader_meta()) if name is not None else []
        if len(readers) == 1 and name not in readers:
            say("reader_name")
            return readers[0]
        return name


class DALIGenericIterator(_OnlyReader, native.DALIGenericIterator):
    __doc__ = native.DALIGenericIterator.__doc__


class DALIClassificationIterator(_OnlyReader, native.DALIClassificationIterator):
    __doc__ = native.DALIClassificationIterator.__doc__


class DALIRaggedIterator(_OnlyReader, native.DALIRaggedIterator):
    __doc__ = native.DALIRaggedIterator.__doc__


class TorchPythonFunction(Operator):
    """fn.torch_python_function as a class: its arguments here, or in the call."""

    _path = "torch_python_function"

    def _function(self):
        return fn.torch_python_function
