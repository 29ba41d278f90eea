"""Chanting: a text in which one piece comes back again and again, as when a model has lost its thread.

Rule 1: a piece is 50 characters that come back ten times or more, close together and at few different
distances (gemini-cli's rule). Rule 2: only prose chants: code, tables, lists, headings, data and drawings
repeat for good reasons. Rule 3: the work is bounded: short texts are not looked at, long ones here and there.
It does not know who said it: the honest log of a program that waits chants, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

LEAST: Final = 512
"""Characters below which no text chants."""

TIMES: Final = 10
"""How often a piece has to be there."""

_PIECE: Final = 50
_APART: Final = 250  # characters from one to the next, on average
_NEAR: Final = _APART * TIMES  # characters on each side in which a piece is looked for
_DISTANCES: Final = 5  # different ones
_STEP: Final = 500  # characters between two places that are looked at
_PLACES: Final = 64
_LAID_OUT: Final = re.compile(r"^(?:\s*(?:[-*+\u2022|>#]|\d+[.)]|```)|\t| {4})", re.MULTILINE)
_SIGNS: Final = re.compile(r"[^\w\s.,;:!?'\"()\u2019\u3000-\u303f\uff00-\uff0f-]|[\d_]")
_RARE: Final = 50  # characters of prose among which there is one such sign at most
_LONG: Final = 15  # characters to a word, at most on average


def chant(text: str) -> int:
    """How many times one piece comes back in a text, 0 when none does.

    >>> chant("I will now check the results once more before I go on. " * 40)
    40
    >>> chant("".join(f"Flight {number} to Rome leaves at noon and has seats left. " for number in range(40)))
    0
    """
    if len(text) < LEAST:
        return 0
    for at in _places(len(text)):
        piece = text[at : at + _PIECE]
        again = text.find(piece, at + 1, at + 2 * _APART)
        if again > 0 and _is_prose(text[at : max(again, at + _PIECE)]) and _chants(text, piece, at):
            return text.count(piece)
    return 0


def _places(length: int) -> range:
    """Where to look: closely in a short text, in a long one at as many places."""
    return range(0, length - _PIECE, max(_STEP, length // _PLACES))


def _chants(text: str, piece: str, at: int) -> bool:
    around = text[max(0, at - _NEAR) : at + _NEAR]
    if around.count(piece) < TIMES:
        return False
    found = list(_occurrences(around, piece))
    distances = {later - earlier for earlier, later in pairwise(found)}
    if found[-1] - found[0] > _APART * (len(found) - 1) or len(distances) > _DISTANCES:
        return False
    return text.count("```", 0, at) % 2 == 0


def _occurrences(text: str, piece: str) -> Iterator[int]:
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + len(piece))


def _is_prose(text: str) -> bool:
    if len(_SIGNS.findall(text)) * _RARE > len(text) or _LAID_OUT.search(text):
        return False
    letters = sum(map(str.isalpha, text))
    return 2 * letters > len(text) and (len(text.split()) * _LONG >= len(text) or not text.isascii())
