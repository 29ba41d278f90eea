"""Whether a configuration says anything at all: a file that is being replaced is empty for a while.

Rule: nothing, comments, an empty mapping and names without values say nothing; `policy: {}` says something,
on purpose. It reads no file, and no YAML beyond that.
"""

from __future__ import annotations

import re
from typing import Final

EMPTY: Final = "is empty, and was not before: to have nothing in it on purpose, write 'policy: {}'"
"""What is wrong with a file that suddenly says nothing."""
GONE: Final = "is not there any more"
"""And with one that has vanished."""
_NOTHING: Final = re.compile(r"(---|\.\.\.|\{\}|null|~|\w+:(null|~)?)?")


def is_blank(text: str) -> bool:
    """Whether a YAML text says nothing.

    >>> is_blank(""), is_blank("# soon\\n{ }\\n"), is_blank("policy:\\n  budgets:\\n")
    (True, True, True)
    >>> is_blank("policy: {}"), is_blank("policy:\\n  mode: warn")
    (False, False)
    """
    lines = ("".join(line.partition("#")[0].split()) for line in text.lstrip("\ufeff").splitlines())
    return all(_NOTHING.fullmatch(line) for line in lines)
