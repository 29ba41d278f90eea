"""Long work is done in pieces, with a rest between them."""

from __future__ import annotations

import pytest

from spanfuse_processor.breathing import PIECE, REST, pieces


def test_between_two_pieces_there_is_a_rest_and_none_after_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setattr("time.sleep", done.append)

    for piece in pieces(range(2 * PIECE + 1)):
        done.append(len(piece))

    assert done == [PIECE, REST, PIECE, REST, 1]


def test_nothing_is_no_piece() -> None:
    assert list(pieces([])) == []
