# SPDX-License-Identifier: Apache-2.0
"""Commands of the program `penstock` that look at a machine or run a script: doctor, bench, show."""
