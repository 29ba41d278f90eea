"""What the cells of a node mean: seven numbers of 32 bits each.

Rule 1: every number that is read or written there has its name here. Rule 2: what is larger than a cell holds
is clamped by whoever writes it. It does not know any tree.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.nouns import Kind

# The cells of a node: index of its parent, what it is, its usage (4; of an agent, which has none, its start
# and its end in nanoseconds), its cost in micro-dollars.
CELLS: Final = 7
META, USAGE, COST = 1, 2, 6
NONE: Final = 0xFFFF_FFFF  # no parent; no cost
MOST: Final = NONE - 1  # what a cell can hold: counts above are clamped

# META, low bits: kind and flags; above them the height: the longest chain of agents from here down.
# From MODEL on, kinds are transparent: what is below them is also below what is above them.
AWAITED, TOOL, AGENT, WORKFLOW, MODEL, EMBEDDINGS, OTHER, LINK = range(8)
KIND: Final = 0b0000_0111
ENDED: Final = 0b0000_1000
USED: Final = 0b0001_0000  # a model call that reported usage
COUNTED: Final = 0b0010_0000  # and it is in the totals
WRAPS: Final = 0b0100_0000  # such a call is below
LISTED: Final = 0b1000_0000  # it is or leads to an agent, and the node above knows it
GUESSED: Final = 0b1_0000_0000  # what was used here is a guess: nothing above is taken to tell the same
FLAGS: Final = 0x1FF
HEIGHT: Final = 9
PLAIN: Final = KIND | ENDED  # META up to here: nothing is below that is to be known above

CODES: Final = {
    Kind.MODEL: MODEL,
    Kind.EMBEDDINGS: EMBEDDINGS,
    Kind.TOOL: TOOL,
    Kind.AGENT: AGENT,
    Kind.WORKFLOW: WORKFLOW,
    Kind.OTHER: OTHER,
}
