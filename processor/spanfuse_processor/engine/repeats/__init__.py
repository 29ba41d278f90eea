"""What the repeat detector is made of: lanes, sequences, and how a repeat is said."""
