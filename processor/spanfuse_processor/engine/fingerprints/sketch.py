"""Sketches: 64 bits from which the likeness of two texts can be estimated, and no word be read.

A text is the set of its words: letters in lower case, digits left out, order and number forgotten. Each word
flips one of 58 bits (an odd sketch: Mitzenmacher, Pagh and Pham, 2014), so that what two texts share cancels
out and the bits that differ count the words that they do not share. The other six bits hold how many words
there were. Of a text with more words than these can count, those with the smallest hashes stand for all.

Rule 1: the alphabet is replaced by a secret one before anything is hashed, so that without the key no guess
can be tried out; it is no cipher: who has many texts with their sketches may find the alphabet. Rule 2: the
work is bounded: pieces of a long text stand for it, at places that stay when more is added to its end.
Rule 3: 0 is unknown, and unlike everything. It does not know what is compared, nor why.
"""

from __future__ import annotations

import re
from hashlib import shake_128
from math import log
from struct import Struct
from typing import Final
from zlib import crc32

LENGTH: Final = 896
"""Characters of a text that are looked at unless said otherwise; of a longer one, pieces of all of it."""

_PIECE: Final = 128

_BITS: Final = 58
_MOST: Final = 63  # words that six bits can count
_FLIPPED: Final = (1 << _BITS) - 1
_FLIPS: Final = [1 << hashed % _BITS for hashed in range(256)]
_UNSHARED: Final = [-_BITS / 2 * log(1 - 2 * flipped / _BITS) for flipped in range(_BITS // 2)]
_PACKED: Final = [Struct(f"<{count}I").pack for count in range(_MOST + 1)]

_SECRETS: Final = [byte for byte in range(256) if byte not in b"\t\n\x0b\x0c\r "]  # bytes that split nothing
_LETTERS: Final = (*b"abcdefghijklmnopqrstuvwxyz", *range(128, 256))
_DIGITS: Final = b"0123456789"
_SIGN_HEADS: Final = bytes(range(0xE3, 0xEE))  # with one of these its code begins
_SIGN: Final = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")  # a word, where none has spaces


class Sketcher:
    """Makes the sketches of one deployment: those made with another key are like nothing here.

    >>> sketch = Sketcher(b"secret").of
    >>> sketch("find flights to Rome on May 3") == sketch("on May 14 find FLIGHTS to Rome")
    True
    >>> sketch("rome") == Sketcher(b"another").of("rome"), sketch("12 + 7")
    (False, 0)
    """

    __slots__ = ("_alphabet",)

    def __init__(self, key: bytes) -> None:
        self._alphabet = _alphabet(key)

    def of(self, text: str, length: int = LENGTH) -> int:
        """The sketch of a text, by `length` of its characters at most; 0 when there is no word in it."""
        if len(text) > length:
            text = _pieces(text, length)
        coded = text.encode("utf-8", "replace")
        if len(coded) > len(text) and len(coded.translate(None, _SIGN_HEADS)) < len(coded):
            coded = _SIGN.sub(r" \1 ", text).encode("utf-8", "replace")
        words = set(coded.translate(self._alphabet, _DIGITS).split())
        hashes = list(map(crc32, words))
        if len(hashes) > _MOST:
            hashes.sort()
            del hashes[_MOST:]
        count = len(hashes)
        flipped, flips = count << _BITS, _FLIPS
        for lowest_byte in _PACKED[count](*hashes)[::4]:  # all cut off at once: one by one takes longer
            flipped ^= flips[lowest_byte]
        return flipped


def resemblance(one: int, other: int) -> float:
    """How alike two texts are, 0 to 1: the share of their words that both have (Jaccard's), estimated.

    Measured on 22,000 pairs of calls and answers of recorded agents: what is alike by 0.7 or more is told to
    within 0.03 (root mean square), what is less to within 0.12; of 10,000 pairs that are not alike by 0.8,
    43 are taken for it. Of long texts, of which pieces are compared, to within 0.17 and 0.26.

    >>> sketch = Sketcher(b"").of
    >>> round(resemblance(sketch("one two three four five"), sketch("one two three four six")), 2)  # 4 of 6
    0.66
    >>> resemblance(sketch("a b c"), sketch("x y z")), resemblance(0, 0)
    (0.0, 0.0)
    """
    if not one or not other:
        return 0.0
    flipped = ((one ^ other) & _FLIPPED).bit_count()
    if 2 * flipped >= _BITS:
        return 0.0
    mine, theirs = one >> _BITS, other >> _BITS
    words = mine + theirs
    if not words:
        return 0.0
    unshared = _UNSHARED[flipped]
    if not -unshared <= mine - theirs <= unshared:
        unshared = abs(mine - theirs)
    return (words - unshared) / (words + unshared) if unshared < words else 0.0


def _pieces(text: str, length: int) -> str:
    step = _PIECE
    while len(text) > step * (length // _PIECE):
        step *= 2
    return " ".join([text[at : at + _PIECE] for at in range(0, len(text), step)])


def _alphabet(key: bytes) -> bytes:
    """A secret byte for each letter, small and capital alike; a space for what is none."""
    noise = shake_128(b"sketch" + key).digest(4 * 256)
    secret = sorted(_SECRETS, key=lambda byte: noise[4 * byte : 4 * byte + 4])
    table = bytearray(b" " * 256)
    for letter, byte in zip(_LETTERS, secret, strict=False):
        table[letter] = byte
    for small in range(ord("a"), ord("z") + 1):
        table[small - 32] = table[small]
    return bytes(table)
