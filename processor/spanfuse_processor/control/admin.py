"""The operators' endpoint: kill, release, and what stands.

Rule 1: operators only: 401 for nobody, 403 for a client's token; a browser cannot be made to send
either, because the token is a header and orders must be JSON. Rule 2: every order is audited: who, what,
when, and what came of it. Rule 3: a release always reaches the applications, for they may hold an order of an
earlier life of this processor. It does not know what an order does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

from spanfuse_processor.auth import Tokens
from spanfuse_processor.clock import Clock
from spanfuse_processor.control.guarding import as_json, failure, for_operators
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.payloads import (
    BadRequest,
    Wish,
    read_limit,
    read_wish,
    show_directive,
    show_key,
    show_kill,
)
from spanfuse_processor.control.view import View
from spanfuse_processor.engine.directives import directive_id
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.verdicts import Removal, Verdict
from spanfuse_processor.web import Request, Response, Route

MAX_BODY: Final = 16 * 1024  # bytes
MAX_ROWS: Final = 10_000
MAX_WHO: Final = 100  # characters
_EVERYTHING: Final = View()


@dataclass(frozen=True, slots=True)
class Audit:
    """One order that was given. `done` is False when nothing changed by it."""

    at_ns: int
    who: str
    order: Order
    done: bool

    def fields(self) -> dict[str, object]:
        """For a line of the log."""
        order = self.order
        said = {"who": self.who, "order": order.kind.value, "key": str(order.key)}
        return {**said, "reason": order.reason, "done": self.done}


class Admin:
    """The routes of operators.

    Args:
        hub: what stands, and the way to the applications.
        tokens: who is an operator.
        order: carries an order out and publishes what follows; answers with its verdicts.
        runs: the runs in memory as plain fields, those that matter most first, as many as asked for.
        known: whether anything has been seen of the run that this key names.
        audit: is told of every order.
        clock: dates the audit.
    """

    def __init__(
        self,
        hub: Hub,
        tokens: Tokens,
        order: Callable[[Order], tuple[Verdict, ...]],
        runs: Callable[[int], Iterable[Mapping[str, Any]]],
        known: Callable[[BreakerKey], bool],
        audit: Callable[[Audit], None],
        clock: Clock,
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._order = order
        self._runs = runs
        self._known = known
        self._audit = audit
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        """What to serve."""
        return (
            Route("POST", "/v1/kill", for_operators(self._tokens, self._kill)),
            Route("POST", "/v1/release", for_operators(self._tokens, self._release)),
            Route("GET", "/v1/directives", for_operators(self._tokens, self._list_directives)),
            Route("GET", "/v1/runs", for_operators(self._tokens, self._list_runs)),
        )

    async def _kill(self, request: Request) -> Response:
        wish = await _wish(request)
        order = _order(OrderKind.KILL, wish, request)
        verdicts = self._order(order)
        self._note(order, done=bool(verdicts))
        # The engine may know a run by another name, and what stands already it does not stop again.
        issued = [verdict.directive.id for verdict in verdicts if verdict.directive]
        standing = [each for each in map(self._hub.get, issued) if each] or self._hub.under(wish.key)
        if not standing:
            return failure(409, f"no directive came of it: {show_key(wish.key)} cannot be stopped now")
        # A mistyped id is killed like any other: whoever gave it has to hear that nobody goes by it yet.
        known = {"known": self._known(wish.key)} if wish.key.level is Level.RUN else {}
        return as_json(show_kill(wish.key, standing, changed=bool(verdicts)) | known)

    async def _release(self, request: Request) -> Response:
        wish = await _wish(request)
        order = _order(OrderKind.RELEASE, wish, request)
        stood = {each.id for each in self._hub.under(wish.key)}
        stood.update(verdict.removal.id for verdict in self._order(order) if verdict.removal)
        # What the engine has forgotten, or an earlier life of this processor ordered, is taken down as well.
        left = {each.id for each in self._hub.under(wish.key)} or ({directive_id(wish.key)} - stood)
        self._hub.publish(removals=[Removal(name, 0, wish.reason) for name in sorted(left)])
        self._note(order, done=bool(stood))
        if not stood:
            nothing = f"nothing stood under {show_key(wish.key)}"
            return failure(404, f"{nothing}; applications were told to forget it all the same")
        return as_json({"key": show_key(wish.key), "released": sorted(stood)})

    async def _list_directives(self, request: Request) -> Response:
        standing = self._hub.standing(_EVERYTHING)[::-1][: _limit(request)]
        return as_json({"directives": [show_directive(each) for each in standing]})

    async def _list_runs(self, request: Request) -> Response:
        return as_json({"runs": list(self._runs(_limit(request)))})

    def _note(self, order: Order, *, done: bool) -> None:
        self._audit(Audit(self._clock.wall_ns(), order.issuer, order, done))


async def _wish(request: Request) -> Wish:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # the types that a browser's form can send are refused
        raise BadRequest("the content type must be application/json", status=415)
    return read_wish(await request.read(MAX_BODY))


def _order(kind: OrderKind, wish: Wish, request: Request) -> Order:
    """The order, signed with the name that the operator's tool gives (`X-Spanfuse-Operator`)."""
    named = request.headers.get("x-spanfuse-operator", "")[:MAX_WHO]
    return Order(kind, wish.key, wish.reason, named if named.isprintable() and named else "operator")


def _limit(request: Request) -> int:
    return read_limit(parse_qs(request.query), MAX_ROWS)
