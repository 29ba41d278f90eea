"""How long a request or an answer is: in characters, and in tokens where that can be told exactly.

Rule 1: a text is as long as its UTF-8 bytes; a picture or a recording inside of it is as long as a text of
about as many tokens. Rule 2: tokens are told by `tiktoken`, where it is installed and the model's encoding is
on disk; nothing is fetched, and nobody waits for it to be loaded. It does not know models' habits: those are
the estimator's.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanfuse.guard import fault

MEDIA: Final = 3_000
"""Characters that stand for one picture or recording."""
MOST_PARTS: Final = 20_000
"""Parts of a value that are looked at."""
MOST_ENCODED: Final = 20_000
"""Characters of a text that are encoded to be counted: a few milliseconds."""
_A_THING: Final = 4  # characters that stand for a number or the like
_LONG: Final = 1_024
_NO_PROSE: Final = re.compile(r"data:|[A-Za-z0-9+/=_-]{256}")

# The name under which `tiktoken` keeps each encoding on disk.
ENCODINGS: Final = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "o200k_harmony": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}


class Length(NamedTuple):
    """Characters, and whether there is more than text."""

    characters: int
    media: bool = False


def length(value: object) -> Length:
    """How long a text or plain data is.

    >>> length("four"), length({"role": "user", "content": "über"})
    (Length(characters=4, media=False), Length(characters=20, media=False))
    >>> length({"url": "data:image/png;base64,iVBORw0K"})
    Length(characters=3003, media=True)
    """
    if isinstance(value, str):
        return _of_text(value)
    characters, media, left, looked = 0, False, [value], 0
    while left and looked < MOST_PARTS:
        looked += 1
        part = left.pop()
        if isinstance(part, str):
            text = _of_text(part)
            characters += text.characters
            media = media or text.media
        elif isinstance(part, Mapping):
            left += part.keys()
            left += part.values()
        elif isinstance(part, list | tuple):
            left += part
        elif part is not None:
            characters += _A_THING
    return Length(characters, media)


def _of_text(text: str) -> Length:
    if (len(text) > _LONG or text.startswith("data:")) and _NO_PROSE.match(text):
        return Length(MEDIA, True)
    return Length(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))


class Encodings:
    """Counts tokens exactly, where that is possible."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}  # by model; None: not possible, or not yet
        self._lock = threading.Lock()

    def count(self, model: str, text: str) -> int | None:
        """The tokens of a text; None where nobody can say, or not yet."""
        if len(text) > MOST_ENCODED:
            return None
        try:
            encoding = self._known[model]
        except KeyError:
            self._load(model)
            return None
        return None if encoding is None else len(encoding.encode_ordinary(text))

    def _load(self, model: str) -> None:
        with self._lock:
            if model in self._known:
                return
            self._known[model] = None
            if len(self._known) > 256 or find_spec("tiktoken") is None:
                return
        threading.Thread(target=self._look, args=(model,), name="spanfuse-encoding", daemon=True).start()

    def _look(self, model: str) -> None:
        try:
            import tiktoken  # type: ignore[import-not-found]  # optional

            name = tiktoken.encoding_name_for_model(model)
            if is_on_disk(name):
                self._known[model] = tiktoken.get_encoding(name)
        except KeyError:
            pass  # a model that it does not know
        except Exception as error:
            fault("encoding", error)


def is_on_disk(encoding: str) -> bool:
    """Whether an encoding can be loaded without the network."""
    file = ENCODINGS.get(encoding)
    from tempfile import gettempdir

    named = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    folder = Path(gettempdir(), "data-gym-cache") if named is None else Path(named)
    return bool(file and named != "" and (folder / file).is_file())
