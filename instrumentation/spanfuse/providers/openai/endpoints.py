"""The endpoints of the OpenAI API that run a model, and where a client sends its requests.

Rule 1: an endpoint that is not in the table is none of our business. Rule 2: a provider is named by its
host, as OTel asks of clients that speak this API to somebody else; an unknown host is "openai". It does not
know what a request says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final


class Endpoint(StrEnum):
    """An endpoint that runs a model, by its path below the base URL."""

    CHAT = "chat/completions"
    RESPONSES = "responses"
    EMBEDDINGS = "embeddings"
    COMPLETIONS = "completions"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client sends its requests."""

    provider: str
    address: str
    port: int


# As the resources write it; with Azure's deployment before it; or as a whole URL.
_PATH: Final = re.compile(
    r"(?:(?:https?://.+?|/?deployments/[^/]+)/|/?)"
    rf"({'|'.join(re.escape(endpoint) for endpoint in Endpoint)})/?(?:\?.*)?"
)

_PROVIDERS: Final = (
    (".openai.azure.com", "azure.ai.openai"),
    (".services.ai.azure.com", "azure.ai.inference"),
    (".amazonaws.com", "aws.bedrock"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("api.anthropic.com", "anthropic"),
    ("api.cohere.ai", "cohere"),
    ("api.cohere.com", "cohere"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.moonshot.ai", "moonshot_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
)
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


@lru_cache(maxsize=256)
def endpoint_of(url: str) -> Endpoint | None:
    """The endpoint that a request's URL names, or None."""
    found = _PATH.fullmatch(url)
    return Endpoint(found[1]) if found else None


def place_of(client: Any) -> Place:
    """Where `client` sends its requests."""
    # The property parses the URL anew each time; the field behind it is as old as the SDK's version 1.
    url = getattr(client, "_base_url", None) or getattr(client, "base_url", None)
    port = getattr(url, "port", None)
    return _place(_is_azure(client.__class__), getattr(url, "host", ""), port, getattr(url, "scheme", ""))


@lru_cache(maxsize=256)
def _place(azure: bool, host: str, port: int | None, scheme: str) -> Place:
    return Place(_provider(azure, host), host, port or _DEFAULT_PORTS.get(scheme, 0))


@lru_cache(maxsize=64)
def _is_azure(cls: type) -> bool:
    """Azure may be reached by a host of one's own; its clients are told by their class."""
    return any(base.__name__ == "BaseAzureClient" for base in cls.__mro__)


def _provider(azure: bool, host: str) -> str:
    if azure:
        return "azure.ai.openai"
    for suffix, provider in _PROVIDERS:
        if host.endswith(suffix):
            return provider
    return "openai"
