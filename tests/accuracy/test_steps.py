"""Cases, and how they look to the rules of peers."""

from __future__ import annotations

from tests.accuracy.making import loop
from tests.accuracy.steps import Kind, Step, Turn, counted, turns

SAID = Step(Kind.MODEL, "gpt-4o", "", "Let me see.")
CALLED = Step(Kind.TOOL, "search", '{"b": 1, "a": 2}', "[]")


def test_a_second_call_of_one_answer_has_no_thought_of_its_own() -> None:
    told = turns([SAID, CALLED, CALLED])

    assert [(turn.text, turn.steps) for turn in told] == [("Let me see.", 2), ("", 1)]


def test_a_thought_of_one_agent_is_a_message_before_the_call_of_another() -> None:
    other = Step(Kind.TOOL, "search", agent="other")

    assert [turn.is_call for turn in turns([SAID, other])] == [False, True]


def test_a_user_who_spoke_before_the_thought_spoke_before_the_turn() -> None:
    asked = Step(Kind.MODEL, "gpt-4o", "", "Let me see.", user=True)

    assert [turn.user for turn in turns([asked, CALLED])] == [True]


def test_an_agent_that_another_process_calls_is_no_call_that_it_sees() -> None:
    entered = Step(Kind.AGENT, "helper", "task", place=1)

    assert [turn.name for turn in turns([CALLED, entered, CALLED])] == ["search", "search"]


def test_calls_are_compared_by_sorted_keys() -> None:
    assert Turn(0, "search", '{"a": 2, "b": 1}').call == turns([CALLED])[0].call


def test_a_delay_counts_calls_where_there_are_any_and_messages_where_not() -> None:
    assert counted([SAID, CALLED, SAID, CALLED], 1) == (1, 3)
    assert counted([SAID, SAID, SAID], 1) == (1, 2)


def test_a_delay_counts_from_the_onset_to_the_stop_both_included() -> None:
    assert loop().delay(5) == 4
