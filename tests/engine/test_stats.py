"""The counts: bounded, whatever names come in."""

from __future__ import annotations

from spanfuse_processor.engine.stats import MAX_MODELS, OTHER, EngineStats


def test_models_past_the_first_thousand_are_counted_together() -> None:
    stats = EngineStats()

    for number in range(MAX_MODELS + 5):
        stats.count_unpriced(f"model-{number}")
    stats.count_unpriced("model-0")

    assert len(stats.unpriced_models) == MAX_MODELS + 1
    assert (stats.unpriced_models[OTHER], stats.unpriced_models["model-0"]) == (5, 2)
    assert stats.unpriced == MAX_MODELS + 6
