# SPDX-License-Identifier: Apache-2.0
"""The reference means what DALI means, within the differences that are known and listed."""

import check_reference_against_dali as check
import pytest


@pytest.mark.parametrize("name", check.CHECKS)
def test_reference_is_dali(name):
    found = check.run(name, 40)
    assert found
    assert not [entry for entry in found if entry[2] > entry[3]]
