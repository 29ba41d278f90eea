"""The room that turns what happened into rows, and keeps the service's books."""

from spanfuse_processor.bookkeeping.books import Books, BooksStats
from spanfuse_processor.bookkeeping.journal import Journal, Keeping
from spanfuse_processor.bookkeeping.noting import note_of
from spanfuse_processor.bookkeeping.steps import Recorder

__all__ = ["Books", "BooksStats", "Journal", "Keeping", "Recorder", "note_of"]
