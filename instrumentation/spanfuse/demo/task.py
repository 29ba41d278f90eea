"""What an agent of the demo keeps while it works: its conversation, its tools, how many calls it made.

Rule 1: a tool's failure is told to the model, as tool loops do; a stop is no such failure, it goes through.
Asking the model is the agent's part.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import spanfuse
from spanfuse.demo.scenarios import Scenario
from spanfuse.demo.tools import described
from spanfuse.demo.usage import Tally

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion, ChatCompletionMessageFunctionToolCall


class Task:
    """One run of one scenario: `calls` are the tool calls really made, `used` is what the provider said."""

    def __init__(self, scenario: Scenario, model: str = "") -> None:
        self.scenario = scenario
        self.tools = {tool.__name__: tool for tool in scenario.toolbox()}
        self.described = described(self.tools.values())
        self.messages: list[Any] = [{"role": "system", "content": scenario.system}]
        self.calls = 0
        self.used = Tally()
        self._model = model or scenario.model

    def request(self) -> dict[str, Any]:
        """The arguments of the next `chat.completions.create`."""
        request: dict[str, Any] = {
            "model": self._model,
            "messages": self.messages,
            "user": self.scenario.name,
        }
        if self.tools:
            request |= {"tools": self.described, "parallel_tool_calls": False}
        return request

    def hear(self, turn: str) -> None:
        """The user says something."""
        self.messages.append({"role": "user", "content": turn})

    def heard(self, answer: ChatCompletion) -> list[ChatCompletionMessageFunctionToolCall]:
        """The model has answered: keeps its message, returns the tool calls that it wants."""
        message = answer.choices[0].message
        self.charge(answer.usage)
        self.messages.append(message)
        return [call for call in message.tool_calls or () if call.type == "function"]

    def charge(self, usage: CompletionUsage | None) -> None:
        """Adds what the provider reports; None, as most chunks of a stream have it, adds nothing."""
        if usage is None:
            return
        details = usage.prompt_tokens_details
        self.used.requests += 1
        self.used.input_tokens += usage.prompt_tokens
        self.used.cached_tokens += (details.cached_tokens if details else 0) or 0
        self.used.output_tokens += usage.completion_tokens

    def use(self, call_id: str, name: str, arguments: str) -> None:
        """Makes one tool call and hands its result to the model.

        Raises:
            BreakerOpen: the run is stopped; the tool was not called.
        """
        try:
            result = self.tools[name](**json.loads(arguments))
            content = result if isinstance(result, str) else json.dumps(result)
        except spanfuse.BreakerOpen:
            raise
        except Exception as error:
            content = f"Error: {error}"
        self.calls += 1
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
