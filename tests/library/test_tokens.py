"""About how many tokens texts are: near what o200k and cl100k make of them, and never far below.

The figures are those of the encodings themselves.
"""

from __future__ import annotations

import pytest

from spanfuse.tokens import LOOKED_AT, thinks, tokens

PROSE = "The quick brown fox jumps over the lazy dog near the river bank today. " * 10
PYTHON = "for i in range(10):\n    x[i]=y[i]+1\n" * 20
ROWS = '{"id":1,"x":[1,2,3],"ok":true},' * 20
HEX = "a3f29b7c01de4f8896ab33cd " * 20
KEYS = "aGVsbG8gd29ybGQxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo" * 5
SHOUTED = "THE BUDGET IS SPENT AND ALL CALLS ARE REFUSED UNTIL TOMORROW MORNING " * 5
FIGURES = "31415926535897932384626433832795028841971693993751" * 10
CHINESE = (
    "今天天气很好，我们一起去公园散步，然后吃晚饭。人工智能正在改变我们的生活方式，但是也带来了许多新的挑战。"
    "为了保证系统的稳定运行，工程师需要不断监控各项指标，并在出现异常时及时处理。预算控制是其中一个重要的环节。"
)
KOREAN = (
    "오늘은 날씨가 매우 좋아서 공원을 산책한 후 저녁을 먹기로 했습니다. "
    "인공지능은 우리의 생활 방식을 바꾸고 있지만 많은 새로운 과제도 가져오고 있습니다. "
    "시스템의 안정적인 운영을 보장하기 위해 엔지니어는 지표를 지속적으로 모니터링해야 합니다."
)
RUSSIAN = "Сегодня очень хорошая погода, поэтому мы решили прогуляться по парку, а затем поужинать."
GERMAN = (
    "Die Donaudampfschifffahrtsgesellschaft fährt über Österreich weiter nach Süden. Heute ist das Wetter "
    "sehr schön, deshalb haben wir beschlossen, im Park spazieren zu gehen und danach zu Abend zu essen. "
    "Künstliche Intelligenz verändert unsere Lebensweise, bringt aber auch viele neue Herausforderungen."
)
SMILES = "😀🎉🚀" * 20

COUNTED = [
    (PROSE, "gpt-4o", 151),
    (PROSE, "gpt-4-turbo", 151),
    (PYTHON, "gpt-4o", 320),
    (PYTHON, "gpt-4-turbo", 320),
    (ROWS, "gpt-4o", 321),
    (ROWS, "gpt-4-turbo", 321),
    (HEX, "gpt-4o", 321),
    (HEX, "gpt-4-turbo", 321),
    (KEYS, "gpt-4o", 221),
    (KEYS, "gpt-4-turbo", 226),
    (SHOUTED, "gpt-4o", 106),
    (SHOUTED, "gpt-4-turbo", 111),
    (FIGURES, "gpt-4o", 167),
    (FIGURES, "gpt-4-turbo", 167),
    (CHINESE, "gpt-4o", 66),
    (CHINESE, "gpt-4-turbo", 112),
    (KOREAN, "gpt-4o", 71),
    (KOREAN, "gpt-4-turbo", 129),
    (RUSSIAN, "gpt-4o", 24),
    (RUSSIAN, "gpt-4-turbo", 43),
    (GERMAN, "gpt-4o", 60),
    (GERMAN, "gpt-4-turbo", 81),
    (SMILES, "gpt-4o", 100),
    (SMILES, "gpt-4-turbo", 160),
]


@pytest.mark.parametrize(("text", "model", "counted"), COUNTED)
def test_a_guess_is_near_what_the_encoding_counts(text: str, model: str, counted: int) -> None:
    assert 0.8 * counted <= tokens(text, model) <= 1.2 * counted


@pytest.mark.parametrize("text", [PROSE, HEX, CHINESE])
def test_of_a_long_text_only_parts_are_looked_at(text: str) -> None:
    times = 4_000_000 // len(text)

    assert tokens(text * times) == pytest.approx(tokens(text) * times, rel=0.05)


@pytest.mark.parametrize("piece", [" ", "\x0b", "\n ", "-", "A", "Aa", "é", "1a"])
def test_no_text_takes_long(piece: str) -> None:
    """Were a rule quadratic, this would take minutes."""
    assert 0 < tokens(piece * 1_000_000)


def test_the_texts_of_plain_data_count_and_its_keys_do_not() -> None:
    called = {"content": "yes " * 10, "tool_calls": [["search", '{"a": 1}']]}

    assert tokens(called) == tokens("yes " * 10 + '\nsearch\n{"a": 1}')


@pytest.mark.parametrize("nothing", ["", None, 7, [], {}])
def test_what_says_nothing_has_none(nothing: object) -> None:
    assert tokens(nothing) == 0


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert tokens("\ud800 \x00") >= 1


def test_a_text_as_long_as_is_looked_at_is_looked_at_whole() -> None:
    assert tokens("yes " * (LOOKED_AT // 4)) == LOOKED_AT // 4


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "claude-sonnet-4", "llama-3"])
def test_models_that_only_talk_do_not_think(model: str) -> None:
    assert not thinks(model)


@pytest.mark.parametrize(
    "model", ["o1", "o3-mini", "gpt-5", "azure/gpt-5-mini", "deepseek-reasoner", "qwen3-thinking"]
)
def test_models_that_think_are_known_by_name(model: str) -> None:
    assert thinks(model)
