"""agentbelt-loop 0.1.1 (of agentbelt-suite): words in common, after known noise fields are stripped.

Three calls of one tool in a row whose words agree to 0.92, three results in a row that do, a cycle of 2 to 4
equal calls three times. Its library of shapes that tripped in other sessions is empty here: every run is the
first.
"""

from __future__ import annotations

import json
import re
from collections import deque
from functools import lru_cache

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn, readable

_VOLATILE = frozenset(
    {"timestamp", "ts", "request_id", "trace_id", "id", "uuid", "created_at", "updated_at", "nonce"}
)
_SIMILAR = 0.92
_THREE = 3
_LONGEST = 4


class Agentbelt:
    """Its three detectors with its default policy.

    >>> from tests.accuracy.peer import judge
    >>> noisy = [Turn(n, "search", f'{{"q": "x", "request_id": "{n}"}}', f"{n}") for n in range(4)]
    >>> judge(Agentbelt(), noisy).stopped
    2
    >>> judge(Agentbelt(), [Turn(n, "search", f"{n}", "nothing found") for n in range(4)]).stopped
    2
    """

    def __init__(self) -> None:
        self._calls: deque[tuple[str, str, str]] = deque(maxlen=20)  # tool, call, result: normalised

    def see(self, turn: Turn) -> Say:
        """Repeat, then cycle, then stagnation."""
        if not turn.is_call:
            return Say.NOTHING
        arguments = turn.arguments if isinstance(turn.arguments, dict) else {"input": turn.args}
        self._calls.append(
            (turn.name, _normal({"tool": turn.name, "args": arguments}), _normal(readable(turn.result)))
        )
        return Say.STOP if self._run(1) or self._cycle() or self._run(2) else Say.NOTHING

    def _run(self, side: int) -> bool:
        last = list(self._calls)[-_THREE:]
        return len(last) == _THREE and all(
            call[0] == last[-1][0] and _alike(call[side], last[-1][side]) >= _SIMILAR for call in last
        )

    def _cycle(self) -> bool:
        calls = [call for _, call, _ in self._calls]
        for period in range(2, _LONGEST + 1):
            tail = calls[-period * _THREE :]
            cycle = tail[:period]
            if len(tail) == period * _THREE and tail == cycle * _THREE and len(set(cycle)) > 1:
                return True
        return False


def _normal(value: object) -> str:
    return json.dumps(_stripped(value), sort_keys=True, default=str)


def _stripped(value: object) -> object:
    if isinstance(value, dict):
        return {key: _stripped(each) for key, each in value.items() if key not in _VOLATILE}
    return [_stripped(each) for each in value] if isinstance(value, list) else value


def _alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    mine, theirs = _words(one), _words(other)
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else float(mine == theirs)


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z0-9_]+", text.lower()))
