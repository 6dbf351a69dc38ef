# SPDX-License-Identifier: Apache-2.0
"""The settings that Penstock's Python reads from the environment. All reads go through this file; the names and their meaning are
in the table of src/base/settings.h, which docs/reference/settings.md is made of."""

import os


def setting(name):
    """What the environment says now; "" where it is not set. An empty value is as good as none."""
    return os.environ.get(name, "")


def set_setting(name, value):
    """For the library and for the processes that this one starts."""
    os.environ[name] = value
