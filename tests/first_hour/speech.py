# SPDX-License-Identifier: Apache-2.0
"""The first hour of a user of torchaudio: a manifest with speakers, texts as str, lengths."""

import sys

import penstock

loader = penstock.speech(sys.argv[1], columns=["text", "speaker"], batch_size=2, where={"lang": "de"})
print(loader.program)
for batch in loader:
    print(batch["features"].shape, batch["lengths"].tolist(), batch["text"], batch["speaker"])
