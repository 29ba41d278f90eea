"""What the service says of itself: metrics and log lines. Rooms hand figures in; nothing here decides."""
