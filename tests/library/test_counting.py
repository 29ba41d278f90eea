"""Lengths in characters, and in tokens where somebody can count them without the network."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from spanfuse import counting
from spanfuse.counting import ENCODINGS, MEDIA, MOST_ENCODED, Encodings, Length, is_on_disk, length

PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 500


class TestLengths:
    @pytest.mark.parametrize(
        ("value", "characters"),
        [
            ("hello", 5),
            ("日本語", 9),
            ("", 0),
            (None, 0),
            ([{"role": "user", "content": "hello"}], 4 + 4 + 7 + 5),
            ({"n": 7, "yes": True}, 1 + 3 + 8),
            (("a", ["b", {"c": "d"}]), 4),
        ],
    )
    def test_texts_are_as_long_as_their_bytes_and_data_as_its_texts(
        self, value: object, characters: int
    ) -> None:
        assert length(value) == Length(characters)

    @pytest.mark.parametrize("value", [PICTURE, "UklGRiQA" * 1_000])
    def test_a_picture_or_a_recording_is_as_long_as_a_page(self, value: str) -> None:
        assert length({"data": value}) == Length(4 + MEDIA, True)

    @pytest.mark.parametrize("text", ["word " * 1_000, "データ" * 1_000, "x" * 100])
    def test_prose_of_any_script_is_none(self, text: str) -> None:
        assert not length(text).media

    def test_only_so_much_is_looked_at(self) -> None:
        assert length(["x"] * (2 * counting.MOST_PARTS)).characters < counting.MOST_PARTS

    def test_what_refers_to_itself_has_an_end(self) -> None:
        ring: list[object] = ["x"]
        ring.append(ring)

        assert length(ring) == Length(0)  # it was looked at, and looked at


class Encoding:
    """Has a token for each word."""

    def encode_ordinary(self, text: str) -> list[int]:
        return [len(word) for word in text.split()]


@pytest.fixture
def tiktoken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """A package of that name, with one encoding on disk."""
    module = ModuleType("tiktoken")
    known = {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base", "davinci": "p50k_base"}
    module.encoding_name_for_model = known.__getitem__  # type: ignore[attr-defined]
    module.get_encoding = lambda name: Encoding()  # type: ignore[attr-defined]
    module.__spec__ = sys.__spec__
    monkeypatch.setitem(sys.modules, "tiktoken", module)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    (tmp_path / ENCODINGS["o200k_base"]).write_text("")
    return module


def counted(encodings: Encodings, model: str, text: str) -> int | None:
    """What it says once it has looked."""
    encodings.count(model, text)
    for thread in threading.enumerate():
        if thread.name == "spanfuse-encoding":
            thread.join(5.0)
    return encodings.count(model, text)


class TestTokens:
    def test_are_counted_where_the_encoding_is_on_disk(self, tiktoken: ModuleType) -> None:
        assert counted(Encodings(), "gpt-4o", "three little words") == 3

    def test_nobody_waits_for_it(self, tiktoken: ModuleType) -> None:
        assert Encodings().count("gpt-4o", "three little words") is None

    @pytest.mark.parametrize("model", ["gpt-4", "davinci", "some-model"])
    def test_are_not_where_it_is_not_and_nothing_is_fetched(
        self, tiktoken: ModuleType, model: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loaded: list[str] = []
        monkeypatch.setattr(tiktoken, "get_encoding", loaded.append)

        assert counted(Encodings(), model, "three little words") is None
        assert loaded == []

    def test_are_not_without_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(counting, "find_spec", lambda name: None)

        assert counted(Encodings(), "gpt-4o", "words") is None

    def test_are_not_of_long_texts(self, tiktoken: ModuleType) -> None:
        encodings = Encodings()

        assert counted(encodings, "gpt-4o", "x" * (MOST_ENCODED + 1)) is None
        assert counted(encodings, "gpt-4o", "x") == 1

    def test_a_package_that_fails_is_one_that_is_not_there(
        self, tiktoken: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        faults: list[str] = []
        monkeypatch.setattr(counting, "fault", lambda where, error: faults.append(where))
        monkeypatch.setattr(tiktoken, "encoding_name_for_model", None)

        assert counted(Encodings(), "gpt-4o", "words") is None
        assert faults == ["encoding"]


def test_a_cache_that_is_switched_off_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")

    assert not is_on_disk("o200k_base")
