"""Who may do what: tokens and roles.

Rule 1: tokens are compared in constant time. Rule 2: no client tokens means that clients need none (the
service then listens on loopback only); operators always need one. This file does not know transports.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from enum import StrEnum


class Role(StrEnum):
    """What a caller may do: clients send spans and watch, operators also kill and release."""

    CLIENT = "client"
    OPERATOR = "operator"


class Tokens:
    """Bearer tokens of clients and operators."""

    def __init__(self, clients: Iterable[str] = (), operators: Iterable[str] = ()) -> None:
        self._clients = tuple(token.encode() for token in clients if token)
        self._operators = tuple(token.encode() for token in operators if token)

    def role(self, authorization: str | None) -> Role | None:
        """The role of an `Authorization` header's value; None when it may do nothing."""
        given = (authorization or "").partition(" ")
        token = given[2].strip().encode() if given[0].lower() == "bearer" else b""
        if token and _among(token, self._operators):
            return Role.OPERATOR
        if not self._clients or (token and _among(token, self._clients)):
            return Role.CLIENT
        return None

    def also(self, operator: str) -> Tokens:
        """These, and one more token of an operator; empty: none."""
        made = Tokens()
        made._clients, made._operators = self._clients, self._operators
        if operator:
            made._operators += (operator.encode(),)
        return made


def _among(token: bytes, known: tuple[bytes, ...]) -> bool:
    return any([hmac.compare_digest(token, each) for each in known])
