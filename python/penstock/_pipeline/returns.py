# SPDX-License-Identifier: Apache-2.0
"""What type checkers know of Pipeline.run(): Pipeline[tuple[Batch, Batch]] returns two batches.

Without brackets Pipeline returns a tuple of batches. pipeline_def knows more from the annotation of its function.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic

    from typing_extensions import TypeVar

    from .._core import Batch

    Outputs = TypeVar("Outputs", default=tuple[Batch, ...], covariant=True)

    class Returns(Generic[Outputs]): ...

else:
    Outputs = None

    class Returns:
        """Accepts the brackets, which have no effect at run time."""

        def __class_getitem__(cls, outputs):
            return cls
