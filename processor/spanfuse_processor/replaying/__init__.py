"""Recordings judged again: files of spans in, what the engine would have said of each run out.

It prints nothing: see `commands/replay.py`. It sends no directive anywhere.
"""

from __future__ import annotations

from spanfuse_processor.replaying.judge import Judge
from spanfuse_processor.replaying.recording import Recording, find
from spanfuse_processor.replaying.replay import Replay

__all__ = ["Judge", "Recording", "Replay", "find"]
