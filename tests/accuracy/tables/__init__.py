"""The tables of the page, one file for each of its parts."""
