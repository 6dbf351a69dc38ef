# SPDX-License-Identifier: Apache-2.0
"""When a row of a comparison of two builds has failed; for before_after.py here and in the folder above."""

import statistics

LEAST_MEDIAN, LEAST_QUARTILE = 0.95, 1.0


def judged(ratios):
    """The quartiles of after/before over the rounds, and whether the row has failed: its median and its upper quartile."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return low, middle, high, middle < LEAST_MEDIAN and high < LEAST_QUARTILE
