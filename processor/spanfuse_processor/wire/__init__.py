"""The control protocol without I/O, for both of its ends: the log and its replica, a session, messages."""
