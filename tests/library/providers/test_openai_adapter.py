"""The wrappers put in place and taken out; and faults of ours, which cost the record and nothing else."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import openai._base_client as sdk
import pytest
from openai import AsyncOpenAI, OpenAI
from tests.library.providers.fake_openai import FakeOpenAI
from tests.library.providers.openai_paths import CHAT, COUNTED
from tests.library.providers.stage import Stage, staged

from spanfuse import guard
from spanfuse.providers.openai import OpenAIAdapter, adapter, settling
from spanfuse.providers.openai.stream import ChatGatherer
from spanfuse_processor.engine import names

ORDERS = {
    "before": "import openai, spanfuse; spanfuse.instrument()",
    "after": "import spanfuse; spanfuse.instrument(); import openai",
}
PROGRAM = """
    client = openai.OpenAI(base_url={url!r}, api_key="k")
    with spanfuse.run(feature="f"):
        client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "x"}}])
    status = spanfuse.status()
    print(status.sdks, status.host.spans, status.faults)
    spanfuse.uninstrument()
    client.chat.completions.create(model="m", messages=[])
"""


def methods() -> tuple[object, object]:
    return vars(sdk.SyncAPIClient)["request"], vars(sdk.AsyncAPIClient)["request"]


@pytest.mark.parametrize("order", ORDERS)
def test_the_sdk_is_patched_whether_it_is_imported_before_or_after(order: str, server: FakeOpenAI) -> None:
    program = ORDERS[order] + textwrap.dedent(PROGRAM).format(url=server.url)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.stdout.strip(), done.stderr) == ("['openai'] 2 0", "")
    assert len(server.requests) == 2


def test_unpatching_restores_the_very_methods() -> None:
    before = methods()
    ours = OpenAIAdapter()

    ours.patch()
    between = methods()
    ours.unpatch()

    assert methods() == before
    assert between[0] is not before[0] and between[1] is not before[1]


def test_patching_twice_is_once(client: OpenAI) -> None:
    ours = OpenAIAdapter()

    with staged(ours) as stage:
        ours.patch()
        client.chat.completions.create(**CHAT)

        assert len(stage.memory.begun) == 1


def test_a_wrapper_that_another_library_put_there_first_does_not_lead_past_ours(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = sdk.SyncAPIClient.request
    monkeypatch.setattr(OpenAI, "request", lambda self, *args, **kw: theirs(self, *args, **kw), raising=False)

    with staged(OpenAIAdapter()) as stage, OpenAI(base_url=server.url, api_key="k") as client:
        client.chat.completions.create(**CHAT)

    assert len(stage.memory.begun) == 1


def test_a_client_that_calls_its_parents_method_makes_one_call(server: FakeOpenAI) -> None:
    class Client(OpenAI):
        def request(self, *args: Any, **kwargs: Any) -> Any:
            return super().request(*args, **kwargs)

    with staged(OpenAIAdapter()) as stage, Client(base_url=server.url, api_key="k") as client:
        client.chat.completions.create(**CHAT)

    assert len(stage.memory.begun) == 1


async def test_an_async_client_that_calls_its_parents_method_makes_one_call(server: FakeOpenAI) -> None:
    class Client(AsyncOpenAI):
        async def request(self, *args: Any, **kwargs: Any) -> Any:
            return await super().request(*args, **kwargs)

    with staged(OpenAIAdapter()) as stage:
        async with Client(base_url=server.url, api_key="k") as client:
            await client.chat.completions.create(**CHAT)

    assert len(stage.memory.begun) == 1


def test_a_client_made_before_is_watched_and_after_unpatching_is_not(client: OpenAI) -> None:
    raw = client.chat.completions.with_raw_response

    with staged(OpenAIAdapter()) as stage:
        raw.create(**CHAT)
    raw.create(**CHAT)

    assert len(stage.memory.begun) == 1


def test_without_instrument_a_patched_sdk_just_works(client: OpenAI) -> None:
    ours = OpenAIAdapter()
    ours.patch()
    try:
        completion = client.chat.completions.create(**CHAT)
        chunks = list(client.chat.completions.create(**CHAT, **COUNTED))
    finally:
        ours.unpatch()

    assert completion.choices[0].message.content == "Hello there"
    assert len(chunks) == 5


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> guard.Faults:
    """Faults are swallowed, as they are outside of tests."""
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    monkeypatch.setattr(guard.FAULTS, "count", 0)
    return guard.FAULTS


def broken(*args: Any, **kwargs: Any) -> Any:
    raise ZeroDivisionError("a fault of ours")


def test_a_request_that_we_cannot_read_is_gated_and_made(
    stage: Stage, client: OpenAI, faults: guard.Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "read_intent", broken)

    completion = client.chat.completions.create(**CHAT)

    assert completion.choices[0].message.content == "Hello there"
    assert stage.only()[names.OPERATION] == "chat"
    assert faults.count == 1


async def test_a_response_that_we_cannot_read_reaches_the_application(
    stage: Stage, async_client: AsyncOpenAI, faults: guard.Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "read_outcome", broken)

    completion = await async_client.chat.completions.create(**CHAT)

    assert completion.choices[0].message.content == "Hello there"
    assert names.INPUT_TOKENS not in stage.only()
    assert faults.count == 1


@pytest.mark.parametrize("method", ["add", "outcome"])
def test_chunks_that_we_cannot_read_reach_the_application(
    stage: Stage, client: OpenAI, faults: guard.Faults, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(ChatGatherer, method, broken)

    chunks = list(client.chat.completions.create(**CHAT, **COUNTED))

    assert len(chunks) == 5
    assert stage.only()[names.REQUEST_STREAM] is True
    assert faults.count > 0


def test_an_sdk_without_the_names_is_a_counted_fault_and_no_error(
    client: OpenAI, faults: guard.Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "_MODULE", "openai._no_such_module")
    ours = OpenAIAdapter()

    ours.patch()

    assert faults.count == 3
    assert client.chat.completions.create(**CHAT).choices
    ours.unpatch()
