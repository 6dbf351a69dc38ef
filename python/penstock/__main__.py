# SPDX-License-Identifier: Apache-2.0
import sys

from ._commands import main

sys.exit(main())
