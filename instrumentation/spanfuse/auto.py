"""`import spanfuse.auto`: the one line that instruments a program.

It never raises: a setting that cannot be used is logged, and the program runs unwatched.
"""

from __future__ import annotations

import logging

from spanfuse.instrument import instrument

try:
    instrument()
except Exception as error:
    logging.getLogger("spanfuse").warning("spanfuse is off: %s", error)
