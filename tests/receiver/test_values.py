"""Values as plain data, to a bounded depth, whatever is broken in them."""

from __future__ import annotations

from tests.receiver.builders import deep, field, value

from spanfuse_processor.receiver.decoded import MAX_DEPTH
from spanfuse_processor.receiver.values import plain, read_all


def test_nesting_is_read_to_its_bound_and_no_deeper() -> None:
    def innermost(levels: int) -> object:
        found = plain(deep(levels))
        while isinstance(found, list):
            (found,) = found
        return found

    assert innermost(MAX_DEPTH) == "bottom"
    assert innermost(MAX_DEPTH + 1) is None
    assert innermost(5000) is None


def test_a_map_that_repeats_a_key_keeps_the_last() -> None:
    entries = [field(1, field(1, b"k") + field(2, value(each).SerializeToString())) for each in (1, 2)]

    assert plain(field(6, b"".join(entries))) == {"k": 2}


def test_read_all_gives_a_dict_that_holds_nothing_of_the_batch() -> None:
    found = read_all({"a": value("x").SerializeToString(), "b": b""})

    assert type(found) is dict
    assert found == {"a": "x"}
