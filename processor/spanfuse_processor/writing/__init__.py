"""The room between decisions and stores: `Writer` carries away what is to be kept, `restore` reads it."""

from spanfuse_processor.writing.following import Follower
from spanfuse_processor.writing.keeping import Keeper, Restored, restore
from spanfuse_processor.writing.writer import Writer, WriterStats

__all__ = ["Follower", "Keeper", "Restored", "Writer", "WriterStats", "restore"]
