"""Bodies as they were before `Content-Encoding`, never longer than a limit.

Rule 1: the limit counts while decompressing, so a bomb costs the limit and no more. Rule 2: a body that ends
too early is refused; half a batch must not pass for a whole one. Rule 3: gzip and deflate always work; zstd
where Python has it (3.14) or the package `backports.zstd` is installed.
This file does not know what a body means.
"""

from __future__ import annotations

import contextlib
import importlib
import zlib
from collections.abc import Callable
from typing import Any, Final

from spanfuse_processor.receiver.decoded import Undecodable
from spanfuse_processor.web import BodyTooLarge

MAX_MEMBERS: Final = 64
"""Compressed streams that may follow each other in one body; senders write one."""

GZIP, ZLIB, RAW = 31, 15, -15  # window bits, as zlib wants them
ZSTD_MODULES: Final = ("compression.zstd", "backports.zstd")

Decompress = Callable[[bytes, int], bytes]
MakeEngine = Callable[[], Any]  # what has `decompress(data, max_length)`, `eof` and `unused_data`


def gunzip(body: bytes, limit: int) -> bytes:
    """A gzip body."""
    return _members(body, limit, lambda: zlib.decompressobj(GZIP), zlib.error)


def inflate(body: bytes, limit: int) -> bytes:
    """A deflate body: zlib's format, as HTTP has it, or the raw one, as some senders have it."""
    zlib_header = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2]) % 31 == 0
    window = ZLIB if zlib_header else RAW
    return _members(body, limit, lambda: zlib.decompressobj(window), zlib.error)


def _members(body: bytes, limit: int, make: MakeEngine, error: type[Exception]) -> bytes:
    parts: list[bytes] = []
    rest = body
    for _ in range(MAX_MEMBERS):
        try:
            part, rest = _member(rest, limit, make())
        except error as fault:
            raise Undecodable(f"compressed body: {fault}") from None
        parts.append(part)
        limit -= len(part)
        if not rest:
            return b"".join(parts)
    raise Undecodable("compressed body: too many streams in it")


def _member(body: bytes, limit: int, engine: Any) -> tuple[bytes, bytes]:
    """The bytes of the first compressed stream, and what follows it."""
    plain: bytes = engine.decompress(body, limit + 1)
    if len(plain) > limit:
        raise BodyTooLarge
    if not engine.eof:
        raise Undecodable("compressed body: it ends too early")
    return plain, engine.unused_data


def _zstd() -> dict[str, Decompress]:
    for name in ZSTD_MODULES:
        with contextlib.suppress(ImportError):
            return {"zstd": _unzstd(importlib.import_module(name))}
    return {}


def _unzstd(module: Any) -> Decompress:
    return lambda body, limit: _members(body, limit, module.ZstdDecompressor, module.ZstdError)


def _identity(body: bytes, limit: int) -> bytes:
    return body


DECOMPRESSORS: Final[dict[str, Decompress]] = {
    "": _identity,
    "identity": _identity,
    "gzip": gunzip,
    "x-gzip": gunzip,
    "deflate": inflate,
    **_zstd(),
}
"""By the value of `Content-Encoding`."""
