"""A real service stops a run that loops, and records it, whatever its store is doing."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
from tests.processes import ADMIN_TOKEN, Processor
from tests.replaying.recorded import lines, looping
from tests.waiting import until

from spanfuse_processor.bookkeeping.snapshots import schema

RUN = f"{1:032x}"
SOON = 30.0


def running(folder: Path, **environment: str) -> Processor:
    """A service that keeps what is old, for the recorded calls are of a certain day."""
    usual = {"SPANFUSE_STORE_KEEP_DAYS": "36500", "XDG_STATE_HOME": str(folder)}
    return Processor(environment={**usual, "SPANFUSE_LOG_LEVEL": "error", **environment})


def records_what_it_stops(
    service: Processor, meanwhile: Callable[[], object], after: Callable[[], object]
) -> None:
    """The run is stopped while the store is as `meanwhile` leaves it; all of it is there `after`."""
    try:
        service.start()
        meanwhile()
        send(service)
        (directive,) = asked(service, "/v1/directives")[1]["directives"]
        assert directive["key"] == f"run/{RUN}"
        after()
        until(lambda: asked(service, "/v1/events?kind=trip")[1].get("events"), SOON, every=0.05)

        (trip,) = asked(service, "/v1/events?kind=trip")[1]["events"]
        assert (trip["run"], trip["body"]["directive"]) == (RUN, directive["id"])
        assert trip["body"]["revision"] == directive["revision"]
        until(lambda: asked(service, f"/v1/snapshots/{trip['id']}")[0] == 200, SOON, every=0.05)
        snapshot = asked(service, f"/v1/snapshots/{trip['id']}")[1]
        jsonschema.Draft202012Validator(schema()).validate(snapshot)
        steps = asked(service, f"/v1/runs/{RUN}/steps")[1]["steps"]
        assert len(steps) == 18
        assert [step["number"] for step in snapshot["steps"]] == list(range(1, len(snapshot["steps"]) + 1))
        assert len(snapshot["steps"]) >= trip["body"]["call"]
    finally:
        service.stop()


def send(service: Processor) -> None:
    """A run that asks its model and its tool for the same nine times."""
    for line in lines(looping()).splitlines():
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{service.http}/v1/traces", line.encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200


def asked(service: Processor, path: str) -> tuple[int, Any]:
    """What the service answers an operator."""
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(service.http + path, headers=headers), timeout=10
        ) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
