"""The room that turns what happened into rows: `Journal` in every host, `Books` for the service alone."""
