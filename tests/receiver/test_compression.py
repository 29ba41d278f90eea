"""Compressed bodies: each format, each way of being broken, and bombs."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib

import pytest

from spanfuse_processor.receiver.compression import DECOMPRESSORS, MAX_MEMBERS, ZSTD_MODULES, gunzip, inflate
from spanfuse_processor.receiver.decoded import Undecodable
from spanfuse_processor.web import BodyTooLarge

TEXT = b"spans " * 1000
MIB = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
    ],
)
def test_each_encoding_gives_the_body_back(name: str, body: bytes) -> None:
    assert DECOMPRESSORS[name](body, len(TEXT)) == TEXT


def test_gzip_members_that_follow_each_other_are_one_body() -> None:
    assert gunzip(gzip.compress(b"one ") + gzip.compress(b"two"), 100) == b"one two"


def test_an_empty_body_inside_gzip_is_empty() -> None:
    assert gunzip(gzip.compress(b""), 100) == b""


@pytest.mark.parametrize("cut", [1, 9, 20, -1])
def test_a_cut_body_is_undecodable(cut: int) -> None:
    with pytest.raises(Undecodable):
        gunzip(gzip.compress(TEXT)[:cut], MIB)
    with pytest.raises(Undecodable):
        inflate(zlib.compress(TEXT)[:cut], MIB)


@pytest.mark.parametrize("body", [b"", b"plain text", TEXT])
def test_a_body_that_was_never_compressed_is_undecodable(body: bytes) -> None:
    with pytest.raises(Undecodable):
        gunzip(body, MIB)
    with pytest.raises(Undecodable):
        inflate(body, MIB)


def test_a_changed_byte_is_noticed() -> None:
    body = bytearray(gzip.compress(TEXT))
    body[-6] ^= 1  # the checksum

    with pytest.raises(Undecodable):
        gunzip(bytes(body), MIB)


def test_the_limit_is_exact() -> None:
    assert gunzip(gzip.compress(bytes(1000)), 1000) == bytes(1000)
    with pytest.raises(BodyTooLarge):
        gunzip(gzip.compress(bytes(1001)), 1000)


def test_the_limit_counts_all_members_together() -> None:
    with pytest.raises(BodyTooLarge):
        gunzip(gzip.compress(bytes(600)) * 2, 1000)


def test_a_bomb_costs_no_more_memory_than_the_limit() -> None:
    bomb = gzip.compress(bytes(256 * MIB), compresslevel=1)
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLarge):
            gunzip(bomb, MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 4 * MIB


def test_very_many_members_are_refused() -> None:
    with pytest.raises(Undecodable, match="too many"):
        gunzip(gzip.compress(b"") * (MAX_MEMBERS + 1), MIB)


def test_zstd_works_where_it_is_installed() -> None:
    zstd = next(sys.modules[name] for name in ZSTD_MODULES if name in sys.modules)
    unzstd = DECOMPRESSORS["zstd"]
    body = zstd.compress(TEXT)

    assert unzstd(body, len(TEXT)) == TEXT
    assert unzstd(body + body, 2 * len(TEXT)) == 2 * TEXT
    with pytest.raises(BodyTooLarge):
        unzstd(zstd.compress(bytes(64 * MIB)), MIB)
    for broken in (body[:-1], body[:3], b"", b"plain text"):
        with pytest.raises(Undecodable):
            unzstd(broken, MIB)
