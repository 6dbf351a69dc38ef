# SPDX-License-Identifier: Apache-2.0
"""Workers on other machines make the batches of a pipeline."""
