"""What `calltree.py` keeps: nodes, totals, and whose usage is charged."""
