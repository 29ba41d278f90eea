"""Every honest run that the engine stops, read by a person: run id -> what it did, and why it is stopped.

Rule 1: an entry for each false kill on the recorded runs and the incidents, and none without one: the
measuring fails otherwise. Rule 2: what is written here says what a run did, and quotes nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NEVER_LEFT: Final = (
    "It never left its loop: the task's own cap of ten turns ended it, and what the last equal answer "
    "held was taken for its result. A stop at the call at which it falls loses nothing that came "
    "after."
)

ARGUED: Final[Mapping[str, str]] = {
    "ic_bash_multiturn_starchat_10_turns_fs_2/7": (
        "One command with one mistake in it, six times, longer each time and refused by the same "
        "words; the seventh turn did nothing, and the run counted as a success all the same."
    ),
    "ic_bash_react_10_turns_fs_1/32": (f"One command, seven times, one answer. {_NEVER_LEFT}"),
    "ic_bash_react_10_turns_fs_2/11": (
        f"Two spellings of one path in turn, ten times, not found. {_NEVER_LEFT}"
    ),
    "ic_sql_multiturn_text-bison-001_10_turns/157": (
        "A table by a wrong name, five times; then by the right one. It was lucky: another run of the "
        "same model made the same call eight times."
    ),
    "ic_sql_multiturn_text-bison-001_10_turns/592": (
        "A table by a wrong name, eight times, one error; the ninth call named it rightly. A person "
        "would have stopped it as well."
    ),
    "ic_sql_multiturn_text-bison-001_10_turns/845": (
        "A table by a wrong name, eight times, one error; the ninth call named it rightly. A person "
        "would have stopped it as well."
    ),
    "ic_sql_multiturn_text-bison-001_10_turns_handicap/101": (
        "One query, eight times, one answer; the ninth asked for something else, and that was what "
        "was wanted."
    ),
    "ic_sql_multiturn_text-bison-001_10_turns_handicap/208": (
        "One query with one error, eight times; the ninth was another."
    ),
    "ic_sql_multiturn_text-bison-001_10_turns_handicap/566": (
        "One query, nine times, one answer; the tenth, the last that it was allowed, was another."
    ),
    "ic_sql_multiturn_text-davinci-003_10_turns/536": (
        "A column by a wrong name, four times, one error; the fifth call named it rightly. One call "
        "more would have saved it: a limit of five equal failures spares this run."
    ),
    "ic_sql_multiturn_text-davinci-003_10_turns/934": (
        "A column by a wrong name, five times, one error; the sixth call named it rightly."
    ),
    "ic_sql_react_10_turns/824": (f"One query, seven times, nothing found. {_NEVER_LEFT}"),
    "sola/openhands/pylint-dev__pylint-7228": (
        "Labelled ok because no two neighbouring actions are equal. By reading it is a loop: five "
        "searches in turn, over and over to the 200th step, at a cost of fourteen million tokens."
    ),
    "sola/repairagent/experiment_412_Closure_117": (
        "Labelled ok, and by reading a loop: one kind of edit, refused by one error of the tool "
        "itself, more than twenty times."
    ),
}
