"""Which calls an order is for, and what they give up, on the wire.

Rule 1: reading never raises; what a later version narrows or asks in a field that is unknown here is None:
an order for few is never obeyed as one for many, nor one thing given up for another. Rule 2: models to use
instead are a mapping: they come out sorted. It does not know whose orders these are.
"""

from __future__ import annotations

from math import isfinite

from spanfuse_processor.engine.reach import PAYER_FIELDS, Degrading, Reach
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.plain import text


def encode(reach: Reach) -> pb.Reach:
    """The message for `reach`."""
    patterns = {name: [text(each) for each in getattr(reach, name)] for name in PAYER_FIELDS}
    return pb.Reach(**patterns)


def decode(message: pb.Reach) -> Reach | None:
    """The reach that `message` says, or None when it says more than is known here."""
    reach = Reach(**{name: tuple(getattr(message, name)) for name in PAYER_FIELDS})
    # Fields of a later version are not listed, but they count in the size.
    return reach if message.ByteSize() == encode(reach).ByteSize() else None


def encode_degrading(degrading: Degrading) -> pb.Degrade:
    """The message for `degrading`.

    Raises:
        ValueError: two models are named to be used instead of one, or a number is out of range.
    """
    instead = {text(model): text(other) for model, other in degrading.models}
    if len(instead) < len(degrading.models):
        raise ValueError("one model has two to be used instead")
    return pb.Degrade(
        model_for=instead,
        drop_tools=[text(each) for each in degrading.tools],
        max_output_tokens=degrading.output_tokens,
        temperature=degrading.temperature,
    )


def decode_degrading(message: pb.Degrade) -> Degrading | None:
    """What `message` says is given up, or None when it says more than is known here."""
    temperature = message.temperature if message.HasField("temperature") else None
    if temperature is not None and not (isfinite(temperature) and temperature >= 0):
        return None
    degrading = Degrading(
        models=tuple(sorted(message.model_for.items())),
        tools=tuple(message.drop_tools),
        output_tokens=message.max_output_tokens,
        temperature=temperature,
    )
    return degrading if message.ByteSize() == encode_degrading(degrading).ByteSize() else None
