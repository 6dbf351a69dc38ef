# SPDX-License-Identifier: Apache-2.0
"""A trainer on a machine of tests/network_machine.py: for each line of its input, a number of batches, it prints a line of JSON.

python tests/network_trainer.py KEY PIPELINE OPTIONS ADDRESS...     # OPTIONS: of service.loader, as JSON
"""

import json
import sys
import time
import warnings

import service_pipelines
from penstock import service

key, name, options, *addresses = sys.argv[1:]
options = json.loads(options)
warnings.simplefilter("ignore")
with service.loader(addresses, getattr(service_pipelines, name)(), key=key, **options) as batches:
    for line in sys.stdin:
        sums, waits = [], []
        for _ in range(int(line)):
            begin = time.monotonic()
            sums.append(service_pipelines.checksum(batches.run()))
            waits.append(time.monotonic() - begin)
        received = {link.name.partition(":")[0]: link.bytes for link in batches._deliveries.links}
        print(json.dumps({"sums": sums, "waits": waits, "received": received, **batches.statistics()}), flush=True)
