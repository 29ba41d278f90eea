"""The service's money: calls are charged, budgets watched, leases given, and people told."""

from spanfuse_processor.accounting.money import Money

__all__ = ["Money"]
