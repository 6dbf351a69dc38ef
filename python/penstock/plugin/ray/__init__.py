# SPDX-License-Identifier: Apache-2.0
"""Ray places the workers of penstock.service, and Ray Data calls pipelines: docs/how_to/place_workers_with_ray.md.

Ray is found when it is first needed.
"""

from .service import Service
from .stage import Stage

__all__ = ["Service", "Stage"]
