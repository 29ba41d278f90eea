"""The room that turns what happened into rows, and keeps the service's books."""

from spanfuse_processor.bookkeeping.billing import Biller
from spanfuse_processor.bookkeeping.books import Books, BooksStats
from spanfuse_processor.bookkeeping.noting import note_of

__all__ = ["Biller", "Books", "BooksStats", "note_of"]
