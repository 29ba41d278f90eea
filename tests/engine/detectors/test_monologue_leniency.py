"""Talk that is no monologue: batches, pollers, people who answer, writers with a critic; and their twins."""

from __future__ import annotations

import pytest
from tests.engine.detectors.talking import ALONE, LONG, PLAN, VERBS, said
from tests.engine.detectors.watching import Watch


class TestWhatIsNoMonologue:
    def test_a_tool_that_is_called_in_between(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            said(watch, PLAN)
            watch.tool("read", {"n": n}, f"text {n}")

        assert watch.findings == []

    def test_an_agent_that_is_started_in_between(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            said(watch, PLAN)
            watch.agent("helper", {"n": n})

        assert watch.findings == []

    def test_a_thought_that_is_taken_down_is_no_deed(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            said(watch, PLAN)
            watch.tool("think", {"thought": n}, "noted")

        assert watch.stopped == 9

    def test_answers_that_ask_for_tools_which_nobody_sees(self) -> None:
        """Only the model is instrumented: it polls, and each answer asks for the same call."""
        asked = {"content": "", "tool_calls": [["check_status", "{}"]]}

        assert said(Watch(), *[asked] * 30, asks=True).findings == []

    def test_answers_that_act_in_words(self) -> None:
        """Only the model is instrumented: it says what to do, and the next request says what came of it."""
        places = "cabinet drawer shelf table desk sofa fridge oven sink bed lamp box".split()
        answers = [f"Thought: it may be in the next one. Action: go to the {place}" for place in places]

        assert said(Watch(), *answers, handed=True).findings == []

    def test_what_others_found_meanwhile(self) -> None:
        """A planner gives part after part to a worker that is told by message."""
        watch = Watch()
        for n in range(30):
            said(watch, f"Part {n} of 100 goes to the worker.", agents=("planner",), parent=7)
            watch.tool("read", {"part": n}, f"text of part {n}", agents=("worker",), parent=8)

        assert watch.stopped is None

    def test_but_others_that_only_talk_too_are_no_excuse(self) -> None:
        watch = Watch()
        for _ in range(9):
            said(watch, "Over to you.", agents=("planner",), parent=7)
            said(watch, "And back to you.", agents=("worker",), parent=8)

        assert watch.stopped == 10

    def test_a_person_who_answers(self) -> None:
        watch = Watch()
        for _ in range(20):
            said(watch, "Is there anything else that I can help you with?", user_turn=True)

        assert watch.findings == []

    def test_messages_that_nobody_knows(self) -> None:
        watch = Watch()
        for n in range(60):
            watch.model(tokens=(1_000 + 20 * n, 40))

        assert watch.rules == [(13, "monologue.talk_warn")]

    def test_helpers_that_say_the_same_side_by_side(self) -> None:
        watch = Watch()
        for n in range(20):
            said(watch, PLAN, parent=10 + n, at=1.0, took=5.0)

        assert watch.findings == []

    def test_something_new_in_between_begins_anew(self) -> None:
        watch = Watch(**ALONE)
        for n in range(6):
            said(watch, PLAN, PLAN, PLAN, f"{VERBS[n]} {n} things are left, and they are others")

        assert watch.stopped is None


class TestABatch:
    """Items that have nothing to do with one another, labelled one after the other by one agent."""

    SIZES = tuple(200 + (7_919 * n) % 701 for n in range(300))

    @pytest.mark.parametrize("answer", ["spam", "yes", "", "no"])
    @pytest.mark.parametrize("sizes", [SIZES, tuple(sorted(SIZES))], ids=["as they come", "sorted"])
    def test_of_one_label(self, answer: str, sizes: tuple[int, ...]) -> None:
        watch = Watch()
        for n, size in enumerate(sizes):
            watch.model({"mail": n}, answer, tokens=(size, 1))

        assert watch.stopped is None

    @pytest.mark.parametrize("sizes", [SIZES, tuple(sorted(SIZES))], ids=["as they come", "sorted"])
    def test_of_some_labels(self, sizes: tuple[int, ...]) -> None:
        labels = ("billing", "refund", "shipping")
        watch = Watch()
        for n, size in enumerate(sizes):
            watch.model({"mail": n}, labels[n * n % 7 % 3], tokens=(size, 2))

        assert watch.stopped is None

    @pytest.mark.parametrize("sizes", [SIZES, tuple(sorted(SIZES))], ids=["as they come", "sorted"])
    def test_of_whole_sentences(self, sizes: tuple[int, ...]) -> None:
        watch = Watch()
        for n, size in enumerate(sizes):
            watch.model({"mail": n}, PLAN, tokens=(size, 40))

        assert watch.stopped is None

    def test_but_one_that_carries_all_that_was_said_is_a_conversation(self) -> None:
        watch = Watch()
        for n in range(300):
            watch.model({"mail": n}, PLAN, tokens=(200 + 60 * n, 40))

        assert watch.stopped == 5


class TestAWriterAndACritic:
    """Two agents in turn: the critic says the same again and again."""

    REVISE = "REVISE. The draft does not yet say why the change is needed, nor who gains by it."

    @pytest.fixture
    def watch(self) -> Watch:
        return Watch()

    def reviews(self, watch: Watch, drafts: list[str]) -> Watch:
        for n, draft in enumerate(drafts):
            watch.model({"round": n}, draft, tokens=(1_000 + 90 * n, 60), agents=("writer",), parent=7)
            watch.model({"draft": n}, self.REVISE, tokens=(900 + 90 * n, 20), agents=("critic",), parent=8)
        return watch

    def test_of_new_drafts_are_never_stopped(self, watch: Watch) -> None:
        drafts = [f"Draft that {' '.join(f'{verb}{chr(97 + n)}' for verb in VERBS)}." for n in range(26)]

        assert self.reviews(watch, drafts).stopped is None

    def test_of_one_draft_are(self, watch: Watch) -> None:
        assert self.reviews(watch, [LONG] * 40).stopped == 2 * 5 - 1 + 1
