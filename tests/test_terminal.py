"""What a terminal is shown: fitting, escaped, in colour only where somebody looks."""

from __future__ import annotations

import io

import pytest

from spanfuse_processor.terminal import LEAST, PAGE, Screen, Style, columns, cut, printable


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("out", "environment", "coloured"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"TERM": "xterm"}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    out: io.StringIO, environment: dict[str, str], coloured: bool
) -> None:
    Screen.of(out, environment).say("stopped", Style.RED)

    assert out.getvalue() == ("\x1b[31mstopped\x1b[0m\n" if coloured else "stopped\n")


def test_where_there_is_no_terminal_lines_are_as_wide_as_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.__stdout__", io.StringIO())

    assert Screen.of(io.StringIO(), {}).width == PAGE


def test_columns_say_how_wide_lines_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")

    assert Screen.of(io.StringIO(), {}).width == 72


def test_no_terminal_is_too_narrow_to_read() -> None:
    assert Screen(io.StringIO(), width=5).width == LEAST


def test_long_text_is_wrapped_under_its_beginning() -> None:
    out = io.StringIO()

    Screen(out, width=40).wrap("one two three four five six seven eight nine", "STOP ", "     ")

    assert out.getvalue() == "STOP one two three four five six seven\n     eight nine\n"


def test_what_the_output_cannot_encode_is_escaped() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")

    Screen(out).say("検索")
    out.flush()

    assert raw.getvalue() == b"\\u691c\\u7d22\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("search", "search"), ("a\x1b]0;b\x07", "a\\x1b]0;b\\x07"), ("a\nb", "a\\nb"), ("検索", "検索")],
)
def test_nothing_in_a_name_moves_the_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(("text", "wide"), [("", 0), ("abc", 3), ("検索", 4), ("e\u0301", 1)])
def test_columns_are_counted_as_they_are_shown(text: str, wide: int) -> None:
    assert columns(text) == wide


def test_what_is_cut_says_so_and_fits() -> None:
    assert cut("execute_tool", 12) == "execute_tool"
    assert cut("execute_tool", 8) == "execut.."
    assert cut("a/long/path.jsonl", 12, keep_end=True) == "..path.jsonl"
    assert columns(cut("検索検索検索", 7)) <= 7
