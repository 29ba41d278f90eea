"""Who pays for a call: what its run says, else what is known of the process."""

from __future__ import annotations

from collections.abc import Mapping

from tests.library.making import MODEL, chat, scope, tool

from spanfuse.payers import Payers
from spanfuse.provider import Intent
from spanfuse_processor.engine import dialects_for, names
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.reach import Payer

WHO = {"tenant": "t", "namespace": "n", "feature": "f", "user": "u"}
RESOURCE = {names.SERVICE_NAME: "svc", names.TENANT: "acme", names.SERVICE_NAMESPACE: "prod"}


def test_a_call_is_charged_to_all_that_its_run_says() -> None:
    where = scope("r1", **WHO).inside("outer").inside("inner")
    known = Payer("t", "", "n", "f", "inner", "u", "", "", "r1")

    payers = Payers()

    assert payers.of(where) == known
    assert payers.of(where, chat()) == known._replace(model=MODEL)
    assert payers.of(where, tool("search")) == known._replace(tool="search")
    assert payers.of(where, Intent(Kind.AGENT, "invoke_agent", "helper")) == known._replace(agent="helper")
    assert payers.of(where, Intent(Kind.WORKFLOW, "invoke_workflow", "job")) == known


def test_what_a_run_does_not_say_the_process_may() -> None:
    payers = Payers(lambda: RESOURCE)

    assert payers.of(scope("r1")) == Payer(tenant="acme", service="svc", namespace="prod", run="r1")
    assert payers.of(scope("r1", tenant="t")).tenant == "t"


def test_a_resource_that_becomes_known_late_is_read_then() -> None:
    known: list[Mapping[str, object]] = [{}, RESOURCE]
    payers = Payers(lambda: known[0])
    before = payers.of(scope()).service
    known.pop(0)

    assert (before, payers.of(scope()).service) == ("", "svc")


def test_it_is_who_the_processor_reads_off_the_span() -> None:
    span = {names.OPERATION: "chat", names.REQUEST_MODEL: MODEL, names.RUN: "r1", names.USER: "ann"}
    raw = RawSpan(b"t" * 16, b"s" * 8, b"", "chat", 0, 1, span, RESOURCE)
    read = next(event for each in dialects_for(Policy()) if (event := each.read(raw)) is not None)

    payer = Payers(lambda: RESOURCE).of(scope("r1", user="ann"), chat())

    who = read.identity
    assert (who.tenant, who.service, who.namespace, who.user) == (
        payer.tenant, payer.service, payer.namespace, payer.user
    )  # fmt: skip


def test_what_the_process_says_is_read_as_the_processor_reads_it() -> None:
    for said, known in ((7, "7"), (0, "0"), (b"u", "u"), (True, ""), (("u",), ""), (None, "")):
        resource = {names.USER: said}
        assert Payers(lambda resource=resource: resource).of(scope()).user == known  # type: ignore[misc]
