"""A request that is about to be sent: changed as a copy, put back as it was."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import openai
import pytest
from openai import AzureOpenAI, OpenAI
from openai._models import FinalRequestOptions

from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.sending import Sending
from spanfuse_processor.engine import names
from spanfuse_processor.engine.reach import Degrading

CHEAPER = Degrading(models=(("gpt-4o", "gpt-4o-mini"),), output_tokens=50)
TOOLS = [{"type": "function", "function": {"name": "fetch"}}]


def options_of(**more: Any) -> FinalRequestOptions:
    body = {"model": "gpt-4o", "messages": [], "tools": TOOLS, "max_tokens": 90}
    return FinalRequestOptions.construct(
        **{"method": "post", "url": "/chat/completions", "json_data": body} | more
    )


def sending(
    options: FinalRequestOptions, sent: list[Any] | None = None, client: Any = None, named: bool = False
) -> Sending:
    def wrapped(cast_to: object, options: Any, **more: object) -> str:
        if sent is not None:
            sent.append(options)
        return "said"

    args, kwargs = ((dict,), {"options": options}) if named else ((dict, options), {})
    return Sending(Endpoint.CHAT, client, wrapped, args, kwargs, set())


@pytest.mark.parametrize("named", [False, True], ids=["by position", "by name"])
def test_what_is_sent_is_a_copy_and_what_was_handed_over_stays(named: bool) -> None:
    options, sent = options_of(), []
    before = deepcopy(options.json_data)
    request = sending(options, sent, named=named)

    shown = request.degrade(CHEAPER)

    assert request.perform() == "said"
    assert shown == {names.REQUEST_MODEL: "gpt-4o-mini", names.MAX_TOKENS: 50}
    assert sent[0].json_data == {**before, "model": "gpt-4o-mini", "max_tokens": 50}  # type: ignore[dict-item]
    assert sent[0] is not options and options.json_data == before
    assert (sent[0].url, sent[0].method) == (options.url, options.method)


def test_a_request_that_gives_nothing_up_is_sent_as_the_very_object() -> None:
    options, sent = options_of(), []
    request = sending(options, sent)

    assert request.degrade(Degrading()) is None
    request.perform()

    assert sent[0] is options


def test_what_is_taken_back_is_the_very_object_again() -> None:
    options, sent = options_of(), []
    request = sending(options, sent)
    request.degrade(Degrading(models=(("gpt-4o", "o3"),), temperature=0.1))

    assert request.restore() == {names.REQUEST_MODEL: "gpt-4o", names.MAX_TOKENS: 90}
    request.perform()

    assert sent[0] is options


def test_what_came_from_extra_body_is_changed_there() -> None:
    sent: list[Any] = []
    gone = openai._types.Omit()
    options = options_of(extra_json={"model": "gpt-4o", "tools": gone, "max_tokens": 7, "custom": 1})
    options.json_data = {"model": "another", "tools": TOOLS}
    request = sending(options, sent)

    assert request.degrade(CHEAPER) == {names.REQUEST_MODEL: "gpt-4o-mini"}
    request.perform()

    assert sent[0].extra_json == {"model": "gpt-4o-mini", "tools": gone, "max_tokens": 7, "custom": 1}
    assert sent[0].json_data == {"model": "another", "tools": TOOLS}


def test_a_field_that_goes_is_gone_from_both() -> None:
    sent: list[Any] = []
    request = sending(options_of(extra_json={"tools": TOOLS}), sent)

    request.degrade(Degrading(tools=("fetch",)))
    request.perform()

    assert "tools" not in {**sent[0].json_data, **sent[0].extra_json}


@pytest.mark.parametrize("body", [None, b"raw", [1]])
def test_a_body_that_cannot_be_read_is_left_alone(body: object) -> None:
    options = options_of()
    options.json_data = body

    assert sending(options).degrade(CHEAPER) is None


def test_a_model_that_the_url_names_stays() -> None:
    client = AzureOpenAI(
        azure_endpoint="http://127.0.0.1:1", azure_deployment="big", api_key="k", api_version="1"
    )
    swap = Degrading(models=(("gpt-4o", "gpt-4o-mini"),))

    assert sending(options_of(), client=client).degrade(swap) is None
    assert sending(options_of(url="/deployments/big/chat/completions")).degrade(swap) is None
    assert sending(options_of(), client=OpenAI(api_key="k")).degrade(swap) is not None


@pytest.mark.parametrize(("status", "spurned"), [(400, True), (404, True), (429, False), (500, False)])
def test_only_a_changed_request_is_spurned_and_only_by_what_it_says(status: int, spurned: bool) -> None:
    class Status(Exception):
        status_code = status

    request = sending(options_of())
    untouched = request.spurned(Status())
    request.degrade(CHEAPER)

    assert (untouched, request.spurned(Status()), request.spurned(ValueError())) == (False, spurned, False)


def test_nothing_is_left_under_way() -> None:
    under_way: set[int] = set()
    options = options_of()
    request = Sending(Endpoint.CHAT, None, lambda *args, **kwargs: None, (dict, options), {}, under_way)
    request.degrade(CHEAPER)
    while_it_is_made = len(under_way)

    request.close()

    assert (while_it_is_made, under_way) == (2, set())
