"""Every path through OpenAI's SDK is one recorded call, and the application notices nothing."""

from __future__ import annotations

from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.openai_paths import MODEL, PATHS, SAID, Path
from tests.library.providers.stage import Stage

from spanfuse.errors import BreakerOpen
from spanfuse_processor.engine import names

every_path = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)


@pytest.fixture(autouse=True)
def script(server: FakeOpenAI) -> None:
    server.say(Reply(text=SAID))


def assert_recorded(path: Path, span: dict[str, Any]) -> None:
    assert span[names.OPERATION] == path.operation
    assert span[names.REQUEST_MODEL] == MODEL
    assert span.get(names.REQUEST_STREAM, False) is path.streams
    assert (names.INPUT_TOKENS in span) is (path.counted or path.streams)
    assert span.get(names.ESTIMATED, False) is (path.streams and not path.counted)
    assert (names.NOT_ENDED not in span) is path.complete
    assert names.ERROR_TYPE not in span
    if path.counted:
        assert span[names.INPUT_TOKENS] == 12
        assert span[names.RESPONSE_MODEL] == "gpt-4o-mini-2024-07-18"


@every_path
def test_a_sync_call_is_recorded_once_and_says_what_it_said(
    path: Path, stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    said = path.walk(client)

    assert said == SAID
    assert_recorded(path, stage.only())
    assert len(server.requests) == 1


@every_path
async def test_an_async_call_is_recorded_once_and_says_what_it_said(
    path: Path, stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    said = await path.walk_async(async_client)

    assert said == SAID
    assert_recorded(path, stage.only())
    assert len(server.requests) == 1


@every_path
def test_a_refused_sync_call_sends_nothing(
    path: Path, stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    directive = stage.stop()

    with pytest.raises(BreakerOpen) as refusal:
        path.walk(client)

    assert refusal.value.directive is directive
    assert server.requests == [] == stage.memory.begun


@every_path
async def test_a_refused_async_call_sends_nothing(
    path: Path, stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    stage.stop()

    with pytest.raises(BreakerOpen):
        await path.walk_async(async_client)

    assert server.requests == [] == stage.memory.begun


def test_streamed_or_not_the_same_answer_is_the_same_result(stage: Stage, client: OpenAI) -> None:
    chat = [path for path in PATHS if path.operation == "chat" and path.complete]

    for path in chat:
        path.walk(client)

    assert len({span[names.RESULT] for span in stage.spans}) == 1
