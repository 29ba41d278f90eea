"""The page of metrics, made and served by a process of its own: the loop hands over rows, a few at a time."""
