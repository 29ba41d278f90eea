"""What the engine has counted: plain integers, so that nothing is dropped in silence.

Rule 1: every field only grows, but for those said to be figures of now. Rule 2: whoever leaves something
out, counts it here. This file does not know metrics, nor their names.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_MODELS = 1000
OTHER = "other"


@dataclass(slots=True)
class EngineStats:
    """Counts since the engine was made.

    `unpriced` are model calls with usage and without a price of their own (`guessed` of them were charged at
    the policy's fallback), `unpriced_models` the same by model (names
    past the first thousand share "other"); `hinted` were charged what their emitter said. `twins` are
    spans of a tool call that another span had told already. `orphans` are parents that never came while
    their run lived.
    """

    spans: int = 0  # given to `ingest`
    unread: int = 0  # ... that no dialect reads
    calls: int = 0  # placed in a run, each once
    duplicates: int = 0
    conflicts: int = 0  # duplicates that say something else than the first
    twins: int = 0
    heartbeats: int = 0  # starts of calls that were known
    cycles: int = 0  # parent links cut because they lead back
    orphans: int = 0
    folded: int = 0  # calls of runs that are over `nodes_per_run`
    late: int = 0  # for runs that were put away
    resumed: int = 0  # runs that came back after a pause of their own
    evicted: int = 0  # runs put away early, to make room
    merged: int = 0  # runs that turned out to be one
    usage_missing: int = 0  # successful model calls that reported no usage
    estimated: int = 0  # calls whose usage nobody reported, charged by a guess
    corrected: int = 0  # ... and whose usage came after all
    resends: int = 0  # tries that a client made unseen and that failed: counted, not charged
    unpriced: int = 0
    guessed: int = 0
    hinted: int = 0
    findings: int = 0
    stops: int = 0
    runs: int = 0  # now
    active: int = 0  # ... whose root has not ended
    tombstones: int = 0  # now
    features: int = 0  # now
    prices_awaited: int = 0  # now
    unpriced_models: dict[str, int] = field(default_factory=dict)

    def count_unpriced(self, model: str) -> None:
        """One more call of `model` that nobody can price."""
        models = self.unpriced_models
        if model not in models and len(models) >= MAX_MODELS:
            model = OTHER
        models[model] = models.get(model, 0) + 1
        self.unpriced += 1
