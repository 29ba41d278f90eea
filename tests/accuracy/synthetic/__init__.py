"""Synthetic tails and their honest twins: kind -> what makes it. A new one is a function and a line below.

Rule 1: every kind is grafted on every prefix. Rule 2: what content cannot decide is named here, with the
reason; of these a warning is wanted, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from tests.accuracy.synthetic import loops, talks, twins
from tests.accuracy.synthetic.actor import Actor

Graft = Callable[[Actor], int]

LOOPS: Final[Mapping[str, Graft]] = MappingProxyType(
    {
        "identical": loops.identical,
        "identical, 25 s apart": loops.identical_slow,
        "A-B": loops.a_b,
        "A-B-C": loops.a_b_c,
        "period 7": loops.period_7,
        "period 12": loops.period_12,
        "counter in arguments": loops.counter_in_arguments,
        "counter in result": loops.counter_in_result,
        "ids in arguments": loops.ids_in_arguments,
        "ids in results": loops.ids_in_results,
        "ids in both": loops.ids_in_both,
        "times in arguments": loops.timestamps_in_arguments,
        "times in results": loops.timestamps_in_results,
        "one error, timed": loops.timestamped_errors,
        "one error, other arguments": loops.error_with_other_arguments,
        "reworded text between": loops.reworded_text,
        "reworded reason": loops.reworded_reason,
        "reworded arguments, one result": loops.reworded_arguments,
        "drifting arguments and results": loops.drifting_results,
        "one edit again and again": loops.edit_applied_again,
        "growing result": loops.growing_result,
        "empty pages": loops.empty_pages,
        "fixed and undone": loops.fixed_and_undone,
        "monologue": talks.monologue,
        "monologue, reworded": talks.monologue_reworded,
        "ping-pong": talks.ping_pong,
        "ping-pong, reworded": talks.ping_pong_reworded,
        "handed over and back": talks.handed_over,
        "recursion, our spans": talks.recursion,
        "recursion, one conversation": talks.recursion,
        "recursion, linked": talks.recursion_queued,
        "one call, two agents": loops.split_over_agents,
        "A-B-C with strangers": loops.ring_with_strangers,
        "varied waste": loops.varied_waste,
    }
)

TWINS: Final[Mapping[str, Graft]] = MappingProxyType(
    {
        "polling with progress": twins.polling_with_progress,
        "polling patiently": twins.polling_patiently,
        "looking each minute": twins.looking_each_minute,
        "hourly job": twins.hourly_job,
        "paging": twins.paging,
        "watching a log": twins.watching_a_log,
        "sweep without finds": twins.sweep_without_finds,
        "sweep, one sentence": twins.sweep_of_refusals,
        "edit and test": twins.edit_and_test,
        "equal reads at once": twins.equal_reads_at_once,
        "batch with ids": twins.batch_with_ids,
        "batch of oks": twins.batch_of_oks,
        "batch of labels, no tools": twins.batch_of_labels,
        "retries that wait": twins.retries_that_wait,
        "next month": twins.next_month,
        "answered by a person": twins.answered_by_a_person,
        "two agents at work": twins.two_agents_at_work,
        "helpers, our spans": twins.helpers_in_other_processes,
        "helpers, one conversation": twins.helpers_in_other_processes,
        "three samples": twins.three_samples,
    }
)

UNDECIDABLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "identical, 25 s apart": "equal answers half a minute apart are what waiting looks like: time and "
        "money bound it, not content",
        "drifting arguments and results": "results that differ are what learning looks like, however little "
        "they differ",
        "growing result": "a log that is watched grows too; no fingerprint says whether a line is new",
        "ids in both": "an id that is asked about and answered with names another thing as often as it is "
        "noise; it is forgiven on one side of a call only",
        "monologue, reworded": "one thought in other words and another thought differ in meaning alone",
        "ping-pong, reworded": "two agents that agree politely and two that discuss differ in meaning alone",
        "A-B-C with strangers": "all work comes back to what it knows: of an agent that finds something new "
        "again and again nothing is said",
        "varied waste": "nothing in it ever comes back: budgets end it, and no warning is possible",
    }
)

UNSEEN: Final = ("varied waste", "A-B-C with strangers")
"""Undecidable kinds of which not even a warning is asked."""
