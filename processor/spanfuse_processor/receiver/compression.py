"""Bodies as they were before `Content-Encoding`, never longer than a limit.

Rule 1: the limit counts while decompressing, so a bomb costs the limit and no more. Rule 2: gzip and deflate
always work; zstd when the package `zstandard` is installed.
This file does not know what a body means.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any, Final

from spanfuse_processor.receiver.decoded import Undecodable
from spanfuse_processor.web import BodyTooLarge

MAX_MEMBERS: Final = 64
"""Concatenated gzip members of one body; senders write one."""

GZIP, ZLIB, RAW = 31, 15, -15  # window bits, as zlib wants them
Decompress = Callable[[bytes, int], bytes]


def gunzip(body: bytes, limit: int) -> bytes:
    """A gzip body, of one member or a few."""
    parts: list[bytes] = []
    rest = body
    for _ in range(MAX_MEMBERS):
        part, rest = _inflate(rest, GZIP, limit)
        parts.append(part)
        limit -= len(part)
        if not rest:
            return b"".join(parts)
    raise Undecodable("gzip: too many members")


def inflate(body: bytes, limit: int) -> bytes:
    """A deflate body: zlib's format, as HTTP has it, or the raw one, as some senders have it."""
    zlib_header = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2]) % 31 == 0
    return _inflate(body, ZLIB if zlib_header else RAW, limit)[0]


def _inflate(body: bytes, window: int, limit: int) -> tuple[bytes, bytes]:
    """The decompressed bytes, and what follows the compressed ones."""
    engine = zlib.decompressobj(window)
    try:
        plain = engine.decompress(body, limit + 1)
    except zlib.error as error:
        raise Undecodable(f"compressed body: {error}") from None
    if len(plain) > limit:
        raise BodyTooLarge
    if not engine.eof:
        raise Undecodable("compressed body: it ends too early")
    return plain, engine.unused_data


def _zstd() -> dict[str, Decompress]:
    try:
        zstandard: Any = importlib.import_module("zstandard")
    except ImportError:
        return {}

    def unzstd(body: bytes, limit: int) -> bytes:
        try:
            with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
                plain: bytes = reader.read(limit + 1)
        except zstandard.ZstdError as error:
            raise Undecodable(f"compressed body: {error}") from None
        if len(plain) > limit:
            raise BodyTooLarge
        return plain

    return {"zstd": unzstd}


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
