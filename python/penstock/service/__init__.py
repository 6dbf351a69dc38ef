# SPDX-License-Identifier: Apache-2.0
"""Workers on other machines make the batches of a pipeline: docs/how_to/make_batches_on_other_machines.md."""

from .errors import ProtocolError, ServiceError
from .loader import Loader, loader
from .server import Server

__all__ = ["Loader", "ProtocolError", "Server", "ServiceError", "loader"]
