"""What calls will use, learnt from those before; and what streams used that did not say."""

from __future__ import annotations

from typing import Any

import pytest
from tests.library.making import MODEL, chat

import spanfuse
from spanfuse.calling import begin
from spanfuse.counting import MEDIA, Encodings
from spanfuse.expecting import WELL_KNOWN, Expecting, measured, most_said
from spanfuse.provider import Intent, Outcome
from spanfuse.testing import Session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.estimates import Expected
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates

TEXT = "x" * 968


class Words(Encodings):
    """Counts words, of one model."""

    def count(self, model: str, text: str) -> int | None:
        return len(text.split()) if model == "counted" else None


def asked(text: object = TEXT, **said: Any) -> Intent:
    return chat(text, stream=True, **said)


def taught(calls: int = WELL_KNOWN, usage: Usage | None = None) -> Expecting:
    made = Expecting(Words())
    for _ in range(calls):
        made.learn(asked(), usage or Usage(250, 40))
    return made


class TestExpecting:
    def test_what_a_call_may_use_is_what_such_calls_used(self) -> None:
        expected = taught().expect(asked())

        assert (expected.input_tokens, expected.output_tokens) == (250, 40)

    def test_tools_are_told_the_model_too(self) -> None:
        assert measured(asked(beside=[{"name": "search"}])).characters == 968 + 10

    def test_at_most_what_the_request_allows_for_each_choice(self) -> None:
        attributes = {names.MAX_TOKENS: 100, "gen_ai.request.choice.count": 3}

        assert Expecting().expect(asked(attributes=attributes)).output_tokens == 300

    @pytest.mark.parametrize("limit", [None, 0, -5, "many", True])
    def test_a_limit_that_is_none_does_not_count(self, limit: object) -> None:
        found = most_said(asked(attributes={names.MAX_TOKENS: limit}))

        assert found in (None, True)

    def test_embeddings_say_nothing(self) -> None:
        expected = Expecting().expect(Intent(Kind.EMBEDDINGS, "embeddings", "e", arguments=TEXT))

        assert (expected.input_tokens, expected.output_tokens) == (500, 0)

    def test_pictures_and_voices_are_no_text(self) -> None:
        picture = [{"image_url": "data:image/png;base64,iVBO"}]

        assert Expecting().expect(asked(picture)).media
        assert Expecting().expect(asked(media=True)).media
        assert measured(asked(picture)).characters == MEDIA + 9

    def test_a_model_that_is_known_well_is_not_measured_at_each_call(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        measures: list[Intent] = []
        made = taught()
        monkeypatch.setattr(
            "spanfuse.expecting.measured", lambda intent: measures.append(intent) or measured(intent)
        )
        for _ in range(80):
            made.learn(asked(), Usage(250, 40))

        assert len(measures) == 10

    def test_a_call_that_nobody_could_read_teaches_nothing(self) -> None:
        made = Expecting()
        made.learn(asked(None), Usage(9_000, 9))

        assert made.expect(asked()).input_tokens == 500


class TestGuessing:
    def test_tokens_come_from_what_was_asked_and_what_arrived(self) -> None:
        assert taught().guess(asked(), Outcome(result="yes " * 100)) == Usage(250, 100)

    def test_and_are_counted_where_they_can_be(self) -> None:
        outcome = Outcome(result="three little words", model="counted")

        assert taught().guess(asked("two words"), outcome) == Usage(2, 3)
        assert taught().guess(asked("two words", beside=[TEXT]), outcome) == Usage(252, 3)

    def test_what_was_cut_off_used_no_less_than_such_answers_do(self) -> None:
        cut = Outcome(result="y", complete=False)

        assert taught().guess(asked(), cut) == Usage(250, 40)
        assert taught().guess(asked(attributes={names.MAX_TOKENS: 9}), cut) == Usage(250, 9)
        assert Expecting().guess(asked(), cut) == Usage(280, 1)

    def test_an_answer_without_words_is_not_taken_for_prose(self) -> None:
        assert taught().guess(asked(), Outcome(result="a3f29b7c01de4f88" * 25)).output_tokens >= 220

    def test_a_piece_of_a_stream_is_a_token_at_least(self) -> None:
        assert taught().guess(asked(), Outcome(result="yes " * 100, pieces=150)) == Usage(250, 150)

    def test_but_not_where_a_server_sends_letter_by_letter(self) -> None:
        assert taught().guess(asked(), Outcome(result="yes " * 100, pieces=400)) == Usage(250, 200)

    def test_never_more_than_the_request_allows(self) -> None:
        few = asked(attributes={names.MAX_TOKENS: 9})

        assert taught().guess(few, Outcome(result="yes " * 100, pieces=50)) == Usage(250, 9)

    def test_a_model_that_says_more_than_its_texts_show_is_known_for_it(self) -> None:
        made = Expecting()
        for _ in range(WELL_KNOWN):
            made.learn(asked(), Usage(250, 204), Outcome(result="yes " * 100))

        assert made.guess(asked(), Outcome(result="yes " * 100)) == Usage(250, 204)

    def test_an_answer_that_never_began_used_nothing(self) -> None:
        assert taught().guess(asked(), Outcome()) is None

    def test_one_that_was_dropped_unread_was_paid_for(self) -> None:
        assert taught().guess(asked(), Outcome(complete=False)) == Usage(250, 40)


class TestWhatWasPaidFor:
    """What is settled by a guess is settled on the upper side of it."""

    def test_is_more_than_the_guess(self) -> None:
        paid = Expected(500, 4_096)

        assert Expecting().guess(asked(), Outcome(result="yes " * 100), paid) == Usage(500, 130)

    def test_and_as_many_as_there_were_pieces(self) -> None:
        paid = Expected(500, 4_096)

        assert Expecting().guess(asked(), Outcome(result="yes " * 100, pieces=300), paid) == Usage(500, 300)

    def test_but_not_more_than_was_paid(self) -> None:
        assert Expecting().guess(asked(), Outcome(result="yes " * 100), Expected(500, 110)) == Usage(500, 110)

    def test_unless_more_arrived(self) -> None:
        assert Expecting().guess(asked(), Outcome(result="yes " * 100), Expected(500, 50)) == Usage(500, 100)

    def test_how_much_more_is_learnt(self) -> None:
        made = Expecting()
        for _ in range(WELL_KNOWN):
            made.learn(asked(), Usage(250, 308), Outcome(result="yes " * 100))

        assert made.guess(asked(), Outcome(result="yes " * 100), Expected(500, 4_096)) == Usage(500, 312)

    @pytest.mark.parametrize("model", ["o3-mini", "gpt-5", "openai/gpt-5-nano"])
    def test_what_a_model_thinks_nobody_sees(self, model: str) -> None:
        outcome = Outcome(result="yes " * 100, model=model)

        assert Expecting().guess(asked(), outcome, Expected(500, 4_096)) == Usage(500, 4_096)

    def test_nor_of_one_that_was_seen_to_think(self) -> None:
        made = taught(1, Usage(250, 40, reasoning_tokens=30))

        assert made.guess(asked(), Outcome(result="yes"), Expected(500, 4_096)) == Usage(500, 4_096)


class HalfPrice:
    """A book that knows one price, or none, and who has it from where."""

    def __init__(self, fallback: bool = False) -> None:
        self.known = Rates(
            YOCTO_PER_MICRO,
            YOCTO_PER_MICRO,
            services=(("batch", Rates(YOCTO_PER_MICRO // 2, YOCTO_PER_MICRO // 2)),),
            fallback=fallback,
        )

    def rates(self, provider: str, model: str, day: int) -> Rates:
        return self.known


class TestOnTheSpan:
    def test_a_stream_that_does_not_say_what_it_used_is_marked_and_priced(self, session: Session) -> None:
        session.live.prices = HalfPrice()
        with spanfuse.run():
            begin(asked()).succeed(Outcome(result="yes " * 100, model=MODEL))

        span = session.spans[0].attributes
        assert (span[names.ESTIMATED], span[names.INPUT_TOKENS], span[names.OUTPUT_TOKENS]) == (
            True,
            280,
            100,
        )
        assert span[names.COST_USD] == 0.00038

    def test_one_that_does_is_not_and_teaches(self, session: Session) -> None:
        with spanfuse.run():
            begin(asked()).succeed(Outcome(result="y", usage=Usage(100, 1)))
            begin(asked()).succeed(Outcome(result="yes " * 100))

        told, guessed = (span.attributes for span in session.spans[:2])
        assert names.ESTIMATED not in told
        assert guessed[names.INPUT_TOKENS] == 100

    def test_one_that_broke_is_paid_for_as_far_as_it_came(self, session: Session) -> None:
        with spanfuse.run():
            begin(asked()).fail(OSError(), Outcome(result="yes " * 10, response_id="r"))
            begin(asked()).fail(OSError(), Outcome())

        broken, never = (span.attributes for span in session.spans[:2])
        assert (broken[names.ESTIMATED], broken[names.OUTPUT_TOKENS]) == (True, 10)
        assert names.INPUT_TOKENS not in never

    def test_a_whole_answer_without_usage_stays_without(self, session: Session) -> None:
        with spanfuse.run():
            begin(chat(TEXT)).succeed(Outcome(result="y"))

        assert names.INPUT_TOKENS not in session.spans[0].attributes

    def test_how_a_call_was_served_is_said_and_priced(self, session: Session) -> None:
        session.live.prices = HalfPrice()
        with spanfuse.run():
            begin(asked()).succeed(Outcome(result="y", usage=Usage(1_000, 0), service="batch"))

        span = session.spans[0].attributes
        assert (span[names.SERVICE_TIER], span[names.COST_USD]) == ("batch", 0.0005)

    def test_a_price_that_is_not_the_models_is_left_out(self, session: Session) -> None:
        session.live.prices = HalfPrice(fallback=True)
        with spanfuse.run():
            begin(asked()).succeed(Outcome(result="y", usage=Usage(1_000, 0)))

        assert names.COST_USD not in session.spans[0].attributes
