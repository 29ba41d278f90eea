"""OpenAI's SDK: all models and clients of it, the Azure ones too."""

from spanfuse.providers.openai.adapter import OpenAIAdapter

__all__ = ["OpenAIAdapter"]
