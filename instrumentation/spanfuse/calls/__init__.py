"""What becomes of one call between its admission and its end. The door is `calling.py`."""
