"""The room that turns what happened into rows, and keeps the service's books."""
