"""What calls of strict budgets are paid from: a ledger of one's own, or leases of a processor."""
