"""The forecasters, and what they are made of: rates, bands that calibrate themselves, past periods."""
