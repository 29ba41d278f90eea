"""The commands of the executable that live in the library."""
