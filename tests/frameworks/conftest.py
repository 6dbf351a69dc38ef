# SPDX-License-Identifier: Apache-2.0
"""Four devices of JAX on the host for all tests of this folder: they must be set before JAX is imported."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
