"""Who keeps count of budgets: their periods, their accounts, the ledger, leases, and what watches them."""
