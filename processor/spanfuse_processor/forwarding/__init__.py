"""The room that sends spans on: to every destination as they came, and beside them what the breaker did."""

from spanfuse_processor.forwarding.destination import Terms
from spanfuse_processor.forwarding.forwarding import Forwarding, Standing

__all__ = ["Forwarding", "Standing", "Terms"]
