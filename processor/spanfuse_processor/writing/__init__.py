"""The room between decisions and stores: `Writer` carries away what is to be kept, `restore` reads it."""

from spanfuse_processor.writing.following import Follower
from spanfuse_processor.writing.keeping import Keeper, Restored, restore
from spanfuse_processor.writing.operations import Operations, OperationStats
from spanfuse_processor.writing.waiting import Wanted
from spanfuse_processor.writing.writer import KindStats, Writer, WriterStats

__all__ = [
    "Follower",
    "Keeper",
    "KindStats",
    "OperationStats",
    "Operations",
    "Restored",
    "Wanted",
    "Writer",
    "WriterStats",
    "restore",
]
