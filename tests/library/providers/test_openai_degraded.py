"""Orders to degrade, obeyed by OpenAI's SDK over real sockets, on every path."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from time import time_ns
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, AzureOpenAI, OpenAI
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.openai_paths import CHAT, COUNTED, MODEL, PATHS, SAID, USER, Path
from tests.library.providers.stage import Stage
from tests.waiting import until

from spanfuse import guard, runtime
from spanfuse.prices import day_of
from spanfuse.providers.openai import sending
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.pricing import PENDING, YOCTO_PER_MICRO, Rates
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

CHEAP = "gpt-4.1-nano"
WISH = Degrading(models=(("gpt-4o*", CHEAP),), output_tokens=64, temperature=0.25, tools=("web_*",))
BUDGET = Directive(
    "budget/daily",
    1,
    BreakerKey(Level.BUDGET, "daily"),
    Action.DEGRADE,
    reach=Reach(feature=("test",), model=("gpt-*",)),
    degrading=WISH,
)
SLOW = replace(
    BUDGET, id="slow", action=Action.THROTTLE, degrading=None, params=(("calls_per_second", 10.0),)
)
PROVIDERS = ("openai", "azure.ai.openai")
LIMITS = {"max_completion_tokens", "max_output_tokens", "max_tokens"}


@pytest.fixture
def short(stage: Stage, server: FakeOpenAI) -> Iterator[Stage]:
    """Money is short, and known what the models cost."""
    server.say(Reply(text=SAID))
    until(lambda: all(is_priced(where, model) for where in PROVIDERS for model in (MODEL, CHEAP)))
    stage.board.post(BUDGET)
    yield stage


def is_priced(provider: str, model: str) -> bool:
    live = runtime.live()
    return live is not None and live.prices.rates(provider, model, day_of(time_ns())) is not PENDING


def check(stage: Stage, path: Path, server: FakeOpenAI) -> None:
    """What was sent and what the span says of it."""
    span = stage.only()
    body = server.requests[0].body
    if path.operation == "embeddings":
        assert (body["model"], span[names.REQUEST_MODEL], span[names.DEGRADED]) == (MODEL, MODEL, False)
        return
    assert body["model"] == span[names.REQUEST_MODEL] == CHEAP
    assert (span[names.DEGRADED], span[names.ORIGINAL_MODEL]) == (True, MODEL)
    assert body["temperature"] == span["gen_ai.request.temperature"] == 0.25
    limits = [body[name] for name in LIMITS & body.keys()]
    free = "parse" in path.name and path.name != "streaming response, parsed" or path.operation != "chat"
    assert limits == ([] if free else [64])
    assert span.get(names.MAX_TOKENS) == (None if free else 64)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_path_gives_up_what_is_asked(
    short: Stage, client: OpenAI, server: FakeOpenAI, path: Path
) -> None:
    assert path.walk(client) == SAID

    check(short, path, server)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
async def test_every_async_path_gives_up_what_is_asked(
    short: Stage, async_client: AsyncOpenAI, server: FakeOpenAI, path: Path
) -> None:
    assert await path.walk_async(async_client) == SAID

    check(short, path, server)


def test_what_the_application_handed_over_is_not_changed(
    short: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    web, own = ({"type": "function", "function": {"name": name}} for name in ("web_search", "lookup"))
    body = {**CHAT, "tools": [web, own], "tool_choice": web, "temperature": 0.9}
    before = deepcopy(body)

    client.post("/chat/completions", cast_to=object, body=body)
    client.chat.completions.create(model=MODEL, messages=USER, extra_body=body)

    assert body == before
    for request in server.requests:
        assert (request.body["model"], request.body["tools"]) == (CHEAP, [own])
        assert (request.body["tool_choice"], request.body["temperature"]) == ("auto", 0.25)


@pytest.mark.parametrize("mode", [Mode.SHADOW, Mode.WARN])
def test_an_order_that_is_not_enforced_changes_nothing(
    stage: Stage, client: OpenAI, server: FakeOpenAI, mode: Mode
) -> None:
    order = replace(BUDGET, mode=mode)
    stage.board.post(order)
    stage.board.post(replace(SLOW, mode=mode))

    for _ in range(2):
        client.chat.completions.create(**CHAT)

    assert [request.body for request in server.requests] == [CHAT, CHAT]
    assert not {names.DEGRADED, names.THROTTLED_MS} & stage.spans[1].keys()
    assert stage.board.effects(order).calls_passed == 2


def test_calls_that_an_order_does_not_reach_are_made_as_they_are(
    stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    stage.board.post(replace(BUDGET, reach=Reach(feature=("another",))))

    client.chat.completions.create(**CHAT)

    assert server.requests[0].body == CHAT
    assert names.DEGRADED not in stage.only()


def test_a_model_that_the_provider_does_not_have_costs_no_call(
    short: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    server.say(Reply(status=404), Reply(text="as it was"))

    said = client.chat.completions.create(**CHAT).choices[0].message.content
    client.chat.completions.create(**CHAT)

    assert said == "as it was"
    assert [request.body["model"] for request in server.requests] == [CHEAP, MODEL, MODEL]
    first, second = short.spans
    assert (first[names.REQUEST_MODEL], first[names.DEGRADED]) == (MODEL, False)
    assert (second[names.REQUEST_MODEL], second[names.DEGRADED]) == (MODEL, False)
    effects = short.board.effects(BUDGET)
    assert (effects.calls_degraded, effects.calls_not_degraded) == (1, 2)


async def test_nor_does_it_cost_an_async_stream(
    short: Stage, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    server.say(Reply(status=400), Reply(text=SAID))

    chunks = await async_client.chat.completions.create(**CHAT, **COUNTED)
    said = "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])

    assert said == SAID
    assert short.only()[names.DEGRADED] is False


def test_a_request_that_was_wrong_from_the_start_fails_as_it_would_have(
    short: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    server.say(Reply(status=400), Reply(status=400), Reply(text=SAID))

    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(**CHAT)
    client.chat.completions.create(**CHAT)

    assert [request.body["model"] for request in server.requests] == [CHEAP, MODEL, CHEAP]


def test_a_fault_of_ours_leaves_the_request_as_it_was_and_is_counted(
    short: Stage, client: OpenAI, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise ValueError("ours")

    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    monkeypatch.setattr(sending, "spared", fails)
    before = guard.FAULTS.count

    client.chat.completions.create(**CHAT)

    assert server.requests[0].body == CHAT
    assert short.only()[names.DEGRADED] is False
    assert guard.FAULTS.count == before + 1


def test_azure_s_deployment_is_the_one_that_is_asked(short: Stage, server: FakeOpenAI) -> None:
    with AzureOpenAI(azure_endpoint=server.url[:-3], api_key="k", api_version="1") as client:
        client.chat.completions.create(**CHAT)

    assert server.requests[0].path.startswith(f"/openai/deployments/{CHEAP}/chat/completions")
    assert short.only()[names.REQUEST_MODEL] == CHEAP


def test_the_price_is_that_of_the_model_that_was_asked(
    short: Stage, client: OpenAI, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Book:
        def rates(self, provider: str, model: str, day: int) -> Rates:
            price = YOCTO_PER_MICRO * (1 if model == CHEAP else 50)
            return Rates(price, price)

    live = runtime.live()
    assert live is not None
    monkeypatch.setattr(live, "prices", Book())
    server.say(Reply(model="", usage=(12, 5)))

    client.chat.completions.create(**CHAT)

    assert short.only()[names.COST_USD] == pytest.approx(17e-6)
