# SPDX-License-Identifier: Apache-2.0
"""torchaudio beside any build of torch. Its compiled functions load only beside the build of torch for the same CUDA; the import is
told that there are none, and then takes the forms in Python."""

import sys
import types
from pathlib import Path

FOLDER = str(Path(sys.prefix) / "torchaudio")  # tools/requirements/torchaudio.txt

_extension = types.ModuleType("torchaudio._extension")
_extension._IS_TORCHAUDIO_EXT_AVAILABLE = False
_extension._IS_ALIGN_AVAILABLE = False
_extension.fail_if_no_align = lambda function: function
sys.modules.setdefault("torchaudio._extension", _extension)
sys.path.append(FOLDER)

import torchaudio.functional as F  # noqa: E402
import torchaudio.transforms as T  # noqa: E402

sys.path.remove(FOLDER)
__all__ = ["F", "T"]
