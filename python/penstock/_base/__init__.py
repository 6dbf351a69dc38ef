# SPDX-License-Identifier: Apache-2.0
"""What all rooms of this package use: element types, lines of the program, limits, seeds."""
