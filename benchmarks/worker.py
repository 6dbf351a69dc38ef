# SPDX-License-Identifier: Apache-2.0
"""One method of one suite, in the environment of its peer: python worker.py SUITE METHOD CONTEXT-AS-JSON"""

import importlib
import json
import os
import sys
import tempfile

import race
from suites import Context

os.environ["PENSTOCK_CACHE"] = tempfile.mkdtemp()  # no index of an earlier run
suite_name, method, context_json = sys.argv[1:]
suite = importlib.import_module(f"suites.{suite_name}")
context = Context(**json.loads(context_json))
facts = {}
make_digest = getattr(suite, "DIGEST", {}).get(method)
if make_digest:
    facts["digest"] = make_digest(context)
race.serve(suite.METHODS[method][1](context), facts)
