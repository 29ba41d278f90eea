"""For all tests: nothing of them is recorded in the file of whoever runs them."""

from __future__ import annotations

import os

os.environ.setdefault("SPANFUSE_JOURNAL", "off")
