"""Nearly equal calls: what is only warned of, and the one change applied again and again that stops."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, stopped_at

from spanfuse_processor.engine.verdicts import Severity

ALONE: dict[str, Any] = {"only": ("similar",)}
EDIT = {"path": "src/app.py", "insert_after": "import os", "text": "import sys"}


def reapplied(count: int = 20, tool: str = "insert_text", **more: Any) -> list[dict[str, Any]]:
    """One change, applied so many times; the file that comes back grows by it."""
    file = "import json\nimport os\n{}\n\ndef main():\n    print(json.dumps(dict(os.environ)))\n"
    results = (file.format("import sys\n" * (n + 1)) for n in range(count))
    return [{"name": tool, "arguments": EDIT, "result": result, **more} for result in results]


def drifting(count: int = 40, tool: str = "query_logs", **more: Any) -> list[dict[str, Any]]:
    """Nearly the same is asked, digits apart, and nearly the same comes back."""
    return [
        {
            "name": tool,
            "arguments": {"query": "errors of the payment service", "version": n},
            "result": f"{n} of 9000 lines speak of errors of the payment service",
            **more,
        }
        for n in range(count)
    ]


class TestReapplied:
    def test_one_change_whose_result_only_grows_stops_at_the_eighth(self) -> None:
        watch = Watch()
        for call in reapplied():
            watch.tool(**call)

        assert watch.rules[:2] == [(6, "similar.reapplied"), (8, "similar.reapplied")]
        assert watch.stopped == 8

    def test_or_only_counts(self) -> None:
        calls = [
            {"name": "append", "arguments": EDIT, "result": f"ok, the file has {n} lines"} for n in range(20)
        ]

        assert stopped_at(calls) == 8

    def test_another_change_begins_anew(self) -> None:
        calls = []
        for n in range(4):
            calls += [*reapplied(7), {"name": "insert_text", "arguments": {"text": f"{n}"}, "result": "ok"}]

        assert stopped_at(calls, **ALONE) is None

    def test_and_so_does_another_tool(self) -> None:
        calls = [*reapplied(7), {"name": "bash", "arguments": {"command": "make"}, "result": "built"}] * 4

        assert stopped_at(calls, **ALONE) is None

    def test_results_that_are_plainly_others_are_progress(self) -> None:
        words = "amber birch cedar delta ember fjord grove heath inlet jetty knoll ledge".split()
        calls = [{"name": "apply_fix", "arguments": EDIT, "result": f"{word} is mended"} for word in words]

        assert stopped_at(calls) is None

    @pytest.mark.parametrize("tool", ["click", "press_key", "scroll", "read_file", "bash", "next_page"])
    def test_what_takes_a_state_one_step_further_is_no_such_change(self, tool: str) -> None:
        """A button is pressed until the calendar shows the month that was wanted."""
        calls = [
            {"name": tool, "arguments": {"name": "Next"}, "result": f"the page shows month {n} of 2027"}
            for n in range(12)
        ]

        assert stopped_at(calls) is None

    def test_a_change_that_is_made_now_and_then_only_warns(self) -> None:
        watch = Watch(gap=300.0)
        for call in reapplied():
            watch.tool(**call)

        assert watch.stopped is None
        assert watch.rules[0] == (6, "similar.reapplied")

    def test_equal_results_are_told_elsewhere(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(40):
            watch.tool("insert_text", EDIT, "ok, the file was changed")

        assert watch.findings == []

    def test_what_may_repeat_is_not_judged(self) -> None:
        assert stopped_at(reapplied(repeatable=True)) is None

    @pytest.mark.parametrize("limit", [3, 8, 12])
    def test_it_stops_at_its_limit_and_not_before(self, limit: int) -> None:
        assert stopped_at(reapplied(), **ALONE, reapplied=limit) == limit

    def test_zero_switches_it_off(self) -> None:
        watch = Watch(**ALONE, reapplied=0)
        for call in reapplied(14):
            watch.tool(**call)

        assert watch.findings == []

    def test_its_finding_says_all_that_it_rests_on(self) -> None:
        watch = Watch(**ALONE)
        for call in reapplied(8):
            watch.tool(**call)

        finding = watch.findings[-1][1]
        assert (finding.detector, finding.rule, finding.severity) == ("similar", "reapplied", Severity.STOP)
        assert (finding.reason, finding.observed, finding.limit) == ("LOOP", 8.0, 8.0)
        assert [int.from_bytes(span) for span in finding.spans] == list(range(1, 9))
        assert finding.first_span_id == (1).to_bytes(8)
        assert len(finding.prints) == 1
        assert finding.cleared_by


class TestDrifting:
    def test_it_warns_at_the_fifteenth_and_never_stops(self) -> None:
        watch = Watch()
        for call in drifting(99):
            watch.tool(**call)

        assert watch.rules == [(15, "similar.drifting_warn")]
        assert watch.findings[0][1].reason == "BATCH"  # a budget that goes meanwhile is no proof

    def test_other_words_for_nearly_the_same_answer_warn_too(self) -> None:
        ways = "overview of,details on,information about,facts regarding,summary of,notes on".split(",")
        watch = Watch()
        for n in range(40):
            found = "\n".join(f"the return policy, part {p}: see section {p + n % 5}" for p in range(6))
            question = f"{ways[n % 6]} the return policy for opened puzzles, version {n}"
            watch.tool("search_docs", {"query": question}, found)

        assert watch.rules == [(15, "similar.drifting_warn")]
        assert watch.findings[0][1].reason == "DRIFT"

    def test_other_words_for_other_answers_do_not(self) -> None:
        ways = "overview of,details on,information about,facts regarding,summary of,notes on".split(",")
        words = "amber birch cedar delta ember fjord grove heath inlet jetty".split()
        watch = Watch()
        for n in range(40):
            found = " ".join(words[n % 7 : n % 7 + 3]) + f" and {words[n * 3 % 10]} in {n}"
            watch.tool("search_docs", {"query": f"{ways[n % 6]} the return policy for toys, {n}"}, found)

        assert watch.findings == []

    def test_other_words_begin_anew(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(4):
            for call in drifting(14):
                watch.tool(**call)
            watch.tool("query_logs", {"query": "who was on call in winter"}, "nobody")

        assert watch.findings == []

    def test_and_so_do_results_of_another_size(self) -> None:
        watch = Watch(**ALONE)
        for n, call in enumerate(drifting(60)):
            watch.tool(
                **call | {"result": ("nothing", "many lines of the log, and none like another")[n % 2]}
            )

        assert watch.findings == []

    def test_page_after_page_with_something_on_each_is_no_drift(self) -> None:
        watch = Watch()
        for page in range(60):
            rows = [f"customer {page * 20 + row}" for row in range(20)]
            watch.tool("list_customers", {"offset": page * 20, "limit": 20}, rows)

        assert watch.findings == []

    def test_equal_calls_with_equal_results_are_no_drift(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(60):
            watch.tool("query_logs", {"query": "errors"}, "9 lines")

        assert watch.findings == []

    @pytest.mark.parametrize("tool", ["check_status", "send_mail", "spawn_helper"])
    def test_what_waits_sends_or_starts_agents_has_rules_of_its_own(self, tool: str) -> None:
        watch = Watch(**ALONE)
        for call in drifting(60, tool):
            watch.tool(**call)

        assert watch.findings == []

    @pytest.mark.parametrize(("limit", "call"), [(0, None), (5, 5), (30, 30)])
    def test_its_limit_can_be_said(self, limit: int, call: int | None) -> None:
        watch = Watch(**ALONE, drifting_warn=limit)
        for each in drifting():
            watch.tool(**each)

        assert watch.warned == call
