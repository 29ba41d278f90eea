"""About how many tokens a text is, where nobody can count them.

Rule 1: a text is cut where the tokenizers of models cut it (o200k, cl100k and their like): into words, digits
by threes, marks, lines; what is longer than words are is cut again. Other scripts go by the character, and
cost more where a model's vocabulary is of before 2024. Rule 2: the work is bounded: of a long text evenly
spread parts are looked at. It does not know what a model thinks and does not say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

LOOKED_AT: Final = 8_000
"""Characters of a text that are looked at: about a millisecond."""
MOST_PARTS: Final = 20_000
"""Parts of a value that are looked at."""
_PARTS: Final = 16
_USUAL: Final = 7  # letters of a word that is one token, mostly
_LONGEST: Final = 20  # letters; what has more is several words, or none
_RANDOM: Final = 0.62  # tokens a character of letters and digits without any sense: keys, hashes, base64

_WORDS: Final = re.compile(r"[A-Z]?[a-zß-öø-ÿĀ-ɏ]+|[A-Z]+(?![a-z])")
_VOWELS: Final = re.compile(r"[aeiouAEIOUà-öø-ü]")
_DIGITS: Final = re.compile(r"[0-9]{1,3}")
_MARKS: Final = re.compile(r"[!-/:-@\[-^`{-~]{1,16}")
_LINES: Final = re.compile(r"\s{2,80}|\n")
_DENSE: Final = re.compile(r"[A-Za-z0-9+]{24,}")
_NEWER: Final = re.compile(
    r"(?:.*[/:])?(?:gpt-(?:4o|4\.[1-9]|4-?5|[5-9]|oss)|chatgpt|o[1-9]\b)", re.IGNORECASE
)
_THINKS: Final = re.compile(
    r"(?:.*[/:])?(?:o[1-9]\b|gpt-5(?!.*chat)|gpt-oss)|.*(?:reason|think|-r1\b)", re.IGNORECASE
)
# Characters beyond ASCII, and the tokens that each is for a newer and for an older vocabulary.
_SCRIPTS: Final = (
    (re.compile(r"[À-ÿ]"), 0.3, 1.0),
    (re.compile(r"[Ā-ɏ]"), 2.0, 2.3),
    (re.compile(r"[\u0400-\u052f]"), 0.25, 0.48),
    (re.compile(r"[\u0370-\u03ff\u0530-\u08ff]"), 0.38, 0.8),
    (re.compile(r"[\u0900-\u1fff]"), 0.37, 1.15),
    (re.compile(r"[\uac00-\ud7ff]"), 0.68, 1.3),
    (re.compile(r"[\u2e80-\uabff\uf900-\ufaff\uff00-\uffef]"), 0.72, 1.1),
    (
        re.compile(r"[\u0080-\u00bf\u0250-\u036f\u2000-\u2e7f\ud800-\uf8ff\ufb00-\ufeff\ufff0-\uffff]"),
        1.0,
        1.2,
    ),
    (re.compile(r"[\U00010000-\U0010ffff]"), 1.75, 2.7),
)


def tokens(value: object, model: str = "", most: int = LOOKED_AT) -> int:
    """About how many tokens a text is, or plain data: its texts, not its keys.

    `most` characters are looked at.

    >>> tokens("The budget is spent."), tokens("a3f29b7c01de4f88"), tokens("1234567"), tokens("今天天气很好")
    (5, 10, 3, 7)
    >>> tokens("今天天气很好", "gpt-4o"), tokens({"content": "Yes.", "tool_calls": [["add", '{"a": 1}']]})
    (4, 9)
    """
    text = value if isinstance(value, str) else "\n".join(_texts(value))
    newer = _is_newer(model)
    if len(text) <= most:
        return round(_of(text, newer))
    parts = _PARTS if most >= LOOKED_AT else 2
    part = most // parts
    step = (len(text) - part) // (parts - 1)
    looked = "".join([text[at * step : at * step + part] for at in range(parts)])
    return round(_of(looked, newer) * len(text) / len(looked))


@lru_cache(maxsize=256)
def thinks(model: str) -> bool:
    """Whether a model is known for tokens that it is paid for and does not show.

    >>> thinks("o3-mini"), thinks("openai/gpt-5"), thinks("gpt-4o")
    (True, True, False)
    """
    return _THINKS.match(model) is not None


@lru_cache(maxsize=256)
def _is_newer(model: str) -> bool:
    return _NEWER.match(model) is not None


def _texts(value: object) -> list[str]:
    found: list[str] = []
    left = [value]
    for _ in range(MOST_PARTS):
        if not left:
            break
        part = left.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, Mapping):
            left += part.values()
        elif isinstance(part, list | tuple):
            left += part
    return found


def _of(text: str, newer: bool) -> float:
    count: float = _pieces(text) + len(_MARKS.findall(text)) + len(_LINES.findall(text))
    for run in _DENSE.findall(text):
        if not (run.isalpha() or run.isdigit()):
            count += max(0.0, _RANDOM * len(run) - _pieces(run))
    if not text.isascii():
        count += sum(len(each.findall(text)) * (new if newer else old) for each, new, old in _SCRIPTS)
    return count


def _pieces(text: str) -> int:
    return sum(map(_of_word, _WORDS.findall(text))) + len(_DIGITS.findall(text))


def _of_word(word: str) -> int:
    letters = len(word)
    if letters > _LONGEST:
        return letters // (4 if len(_VOWELS.findall(word)) * 4 >= letters else 2)
    if letters > 3 and word.isupper():
        return 1 + (letters - 1) // 4
    return 1 + max(0, letters - _USUAL) // 4
