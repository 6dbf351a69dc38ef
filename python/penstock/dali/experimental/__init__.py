# SPDX-License-Identifier: Apache-2.0
"""DALI's experimental modules."""
