"""What `fingerprint.py` is made of: canonical forms, masks, and envelopes."""
