"""Runs: how they are found, what is kept of them, whose breakers they move."""
