"""Rim, out: people and their tools are told of what happens to budgets."""
