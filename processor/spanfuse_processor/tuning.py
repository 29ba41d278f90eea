"""What the process asks of the machine: kept buffers, a quiet garbage collector.

Measured for this service (2 MB batches): with both glibc thresholds raised, large buffers are reused instead
of being mapped and faulted in each time: 17 % less CPU. Freed memory then stays in the process.
"""

from __future__ import annotations

import ctypes
import gc
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_large_buffers() -> None:
    """Raises both thresholds of glibc's malloc (one alone does nothing). Elsewhere: nothing."""
    if not sys.platform.startswith("linux"):
        return
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)
    except (OSError, AttributeError):  # not glibc
        return


def freeze_startup() -> None:
    """What exists when the service is ready lives as long as it does: the collector need not walk it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
