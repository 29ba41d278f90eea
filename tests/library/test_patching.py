"""Methods are replaced and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spanfuse import guard
from spanfuse.patching import Patches


class Victim:
    def greet(self, name: str) -> str:
        return f"Hello {name}"


def louder(wrapped: Callable[..., str], victim: Victim, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return wrapped(*args, **kwargs).upper()


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """This module by the name that patches are given."""
    import sys
    import types

    module = types.ModuleType("victims")
    module.Victim = Victim  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "victims", module)


def test_a_wrapper_is_placed_and_removed() -> None:
    original = vars(Victim)["greet"]
    patches = Patches()

    placed = patches.place("victims", "Victim", "greet", louder)
    said = Victim().greet("Ann")
    patches.remove()

    assert placed
    assert said == "HELLO ANN"
    assert vars(Victim)["greet"] is original


def test_what_others_have_wrapped_since_stays_and_ours_in_it_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Victim, "greet", vars(Victim)["greet"])
    patches = Patches()
    patches.place("victims", "Victim", "greet", louder)
    ours = Victim.greet
    monkeypatch.setattr(Victim, "greet", lambda self, name: ours(self, name) + "!")

    patches.remove()

    assert Victim().greet("Ann") == "Hello Ann!"


@pytest.mark.parametrize(
    "target", [("no_such_module", "Victim", "greet"), ("victims", "Nobody", "x"), ("victims", "Victim", "x")]
)
def test_a_name_that_is_not_there_is_a_fault_and_no_error(
    target: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    before = guard.FAULTS.count

    placed = Patches().place(*target, louder)

    assert not placed
    assert guard.FAULTS.count == before + 1


def test_a_subclass_with_a_method_of_its_own_is_patched_too() -> None:
    class Loud(Victim):
        def greet(self, name: str) -> str:
            return f"HEY {name}"

    original = vars(Loud)["greet"]
    patches = Patches()
    patches.place("victims", "Victim", "greet", louder)

    said = Loud().greet("Ann")
    patches.remove()

    assert said == "HEY ANN"
    assert vars(Loud)["greet"] is original
