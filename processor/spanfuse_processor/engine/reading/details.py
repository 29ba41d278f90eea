"""The parts of a usage that few models price apart: audio, images, caches kept for an hour, searches.

Rule 1: nearly no span has any, so that is found out first. Rule 2: whoever counts cached audio counts it
among the audio, too. It does not know prices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Details
from spanfuse_processor.engine.reading.lenient import count
from spanfuse_processor.engine.reading.old_names import OLD_NAMES

NAMES: Final = (  # in the order of `Details`
    names.KEPT_TOKENS,
    names.AUDIO_INPUT_TOKENS,
    names.AUDIO_CACHED_TOKENS,
    names.AUDIO_OUTPUT_TOKENS,
    names.IMAGE_INPUT_TOKENS,
    names.IMAGE_CACHED_TOKENS,
    names.IMAGE_OUTPUT_TOKENS,
    names.SEARCHES,
)
_SPELLINGS: Final = tuple((name, *OLD_NAMES.get(name, ())) for name in NAMES)
ALL_NAMES: Final = tuple(name for spellings in _SPELLINGS for name in spellings)
"""All that they go by."""


def details(get: Callable[[str], object]) -> Details | None:
    """What a span says of them, by any of their names; None when it says nothing.

    >>> details({"gen_ai.usage.audio.input_tokens": 40}.get)
    Details(kept=0, audio_input=40, audio_cached=0, audio_output=0, image_input=0, image_cached=0, \
image_output=0, searches=0)
    >>> details({}.get)
    """
    if not any(map(get, ALL_NAMES)):
        return None
    counts = ([count(get(name)) for name in spellings] for spellings in _SPELLINGS)
    return Details(*(next((each for each in known if each is not None), 0) for known in counts))
