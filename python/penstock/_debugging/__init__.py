# SPDX-License-Identifier: Apache-2.0
"""debug=True: the pipeline function runs for each batch."""
