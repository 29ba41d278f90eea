"""The control protocol without I/O, used by both of its ends: nouns on the wire, the log, its replica, the session."""
