"""The SDKs that can be watched: the SDK's import name and its adapter.

Named as strings, so that an adapter is imported when its SDK is, and a missing SDK breaks nothing.
"""

from __future__ import annotations

from typing import Final

PROVIDERS: Final[dict[str, str]] = {
    "openai": "spanfuse.providers.openai:OpenAIAdapter",
}
