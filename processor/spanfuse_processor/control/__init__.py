"""The way out: what must be obeyed reaches those who watch, and operators give their orders."""
