# SPDX-License-Identifier: Apache-2.0
"""penstock.plugin.pytorch.proxy by DALI's names."""

from .....plugin.pytorch import proxy as native

__all__ = ["DALIServer", "DataLoader"]


class DALIServer(native.Server):
    """A Server. deterministic: accepted without effect: batches always run in the loader's order."""

    def __init__(self, pipeline, deterministic=False):
        super().__init__(pipeline)

    def start_thread(self):
        """Accepted: the first batch starts the thread."""

    def stop_thread(self):
        """As close()."""
        self.close()


class DataLoader(native.DataLoader):
    __doc__ = native.DataLoader.__doc__

    def __init__(self, dali_server, *args, **kwargs):
        super().__init__(dali_server, *args, **kwargs)
        self.dali_server = dali_server
