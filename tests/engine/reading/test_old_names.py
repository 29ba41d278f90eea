"""The tables of older names: each leads from a current name, none shadows one."""

from __future__ import annotations

from spanfuse_processor.engine import names
from spanfuse_processor.engine.reading.old_names import OLD_KINDS, OLD_NAMES

CURRENT = {value for name, value in vars(names).items() if name.isupper()}


def test_every_older_name_stands_for_a_current_one() -> None:
    assert set(OLD_NAMES) <= CURRENT


def test_no_older_name_is_a_current_one() -> None:
    assert not CURRENT & {old for olds in OLD_NAMES.values() for old in olds}
    assert not CURRENT & set(OLD_KINDS)
