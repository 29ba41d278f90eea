"""The control channel under any interleaving: in the end an application holds what the server says.

Publishing, withdrawing, time, losses, resumes, restarts, lists, reports that come late, and overflow, in any
order: at every moment the newest revision wins and nothing comes down without a removal, and once the stream
is read to its end both sides hold the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wire.builders import stop

from spanfuse_processor.engine.verdicts import Directive
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import directives, messages
from spanfuse_processor.wire.backoff import Patience
from spanfuse_processor.wire.log import DirectiveLog
from spanfuse_processor.wire.messages import Cursor
from spanfuse_processor.wire.replica import GONE, Changes
from spanfuse_processor.wire.session import Step, WatchSession

RUNS = ("r1", "r2", "r3")
RETAINED = 4  # so that falling behind is common
TTL = 20.0
AT_ONCE = Patience(again=0.0, first=0.0, quick=0.0, longest=0.0, poll_every=0.0)


class Server:
    """A log, and what it answers."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lives = 0
        self.log = DirectiveLog("e0", retained=RETAINED)

    def publish(self, run: str) -> None:
        self.log.upsert(stop(run, ttl=TTL), self.now)

    def publish_for_long(self, run: str) -> None:
        self.log.upsert(stop(run, ttl=100 * TTL), self.now)

    def withdraw(self, run: str) -> None:
        self.log.withdraw(f"run/{run}/stop", "released")

    def restart(self) -> None:
        """Memory is lost, and revisions begin anew."""
        self.lives += 1
        self.log = DirectiveLog(f"e{self.lives}", retained=RETAINED)

    def events(self, cursor: Cursor | None) -> list[bytes]:
        changes = self.log.since(cursor, self.now)
        mark = messages.bookmark(self.log.cursor, 1, 10.0)
        if changes is None:
            return [*messages.snapshots(self.log.cursor, self.log.snapshot(self.now)), mark]
        return [*messages.deltas(self.log.cursor, changes), mark]

    def listing(self, cursor: Cursor | None) -> bytes:
        standing = self.log.snapshot(self.now) if cursor != self.log.cursor else []
        answer = pb.Snapshot(cursor=self.log.cursor._asdict(), directives=map(directives.encode, standing))
        return answer.SerializeToString()

    def answer_to_report(self, cursor: Cursor | None) -> bytes:
        changes = self.log.since(cursor, self.now) or []
        upserts = [directives.encode(each) for each in changes if isinstance(each, Directive)]
        return pb.ReportResponse(cursor=self.log.cursor._asdict(), directives=upserts).SerializeToString()


class Application:
    """A session, and a board that obeys it and checks each change."""

    def __init__(self) -> None:
        self.session = WatchSession(0.0, AT_ONCE)
        self.board: dict[str, Directive] = {}
        self.put_up: dict[str, tuple[int, int]] = {}  # newest (life, revision) by id
        self.taken_down: dict[str, tuple[int, int]] = {}

    def obey(self, changes: Changes) -> None:
        for removal in changes.removals:
            held = self.board.pop(removal.id, None)  # none: it has had its time
            assert held is None or removal.revision >= held.revision
            if self.put_up.get(removal.id, (self.life, 0))[0] == self.life:
                self.taken_down[removal.id] = (self.life, removal.revision)
            else:  # revisions of two lives do not compare; and a new life alone is no pardon
                assert removal.reason != GONE
        for directive in changes.upserts:
            stamp = (self.life, directive.revision)
            assert stamp >= self.put_up.get(directive.id, stamp)
            assert stamp > self.taken_down.get(directive.id, (-1, 0))
            assert directive.id not in self.board or directive.revision > self.board[directive.id].revision
            self.board[directive.id] = directive
            self.put_up[directive.id] = stamp

    @property
    def life(self) -> int:
        """The life of the server that we last heard of."""
        cursor = self.session.resume
        assert cursor is not None
        return int(cursor.epoch[1:])

    def count_time(self, now: float) -> None:
        for name, until in self.deadlines():
            if until <= now:
                self.board.pop(name, None)

    def deadlines(self) -> Iterable[tuple[str, float]]:
        return [(name, held.until) for name, held in self.session.replica._held.items()]

    def check(self, now: float) -> None:
        """The board holds what the replica holds, but for what has had its time."""
        alive = {name for name, until in self.deadlines() if until > now}
        held = self.session.replica.directives()
        assert self.board == {name: held[name] for name in alive}


class Network:
    """One stream at a time, and answers under way."""

    def __init__(self, server: Server, application: Application) -> None:
        self.server = server
        self.application = application
        self.session = application.session
        self.sent: Cursor | None = None  # the server's side of the open stream
        self.events: list[bytes] = []
        self.listings: list[bytes] = []
        self.reports: list[bytes] = []
        self.open()

    def open(self) -> None:
        assert Step.WATCH in self.do_what_is_due()
        self.sent = self.session.resume

    def lose(self) -> None:
        self.events.clear()
        self.session.lost(self.server.now, roll=0.0)
        self.open()

    def send(self) -> None:
        self.events += self.server.events(self.sent)
        self.sent = self.server.log.cursor

    def receive(self) -> None:
        if self.events:
            self.application.obey(self.session.receive(self.events.pop(0), self.server.now))

    def deliver(self) -> None:
        self.send()
        while self.events:
            self.receive()

    def do_what_is_due(self) -> tuple[Step, ...]:
        steps = self.session.due(self.server.now)
        if Step.LIST in steps:
            self.listings = [self.server.listing(self.session.resume)]
        return steps

    def list_arrives(self) -> None:
        if self.listings:
            self.application.obey(self.session.listed(self.listings.pop(), self.server.now))

    def report(self) -> None:
        self.reports.append(self.server.answer_to_report(self.session.resume))

    def oldest_report_arrives(self) -> None:
        if self.reports:
            self.application.obey(self.session.reported(self.reports.pop(0), self.server.now))

    def newest_report_arrives(self) -> None:
        if self.reports:
            self.application.obey(self.session.reported(self.reports.pop(), self.server.now))

    def restart(self) -> None:
        self.server.restart()
        self.lose()

    def wait(self) -> None:
        self.server.now += TTL / 2
        self.server.log.expire(self.server.now)
        self.application.count_time(self.server.now)


Move = Callable[[Server, Network, str], object]
SERVER: list[Move] = [
    lambda server, _, run: server.publish(run),
    lambda server, _, run: server.publish_for_long(run),
    lambda server, _, run: server.withdraw(run),
]
STREAM: list[Move] = [
    lambda _, network, run: network.send(),
    lambda _, network, run: network.receive(),
    lambda _, network, run: network.deliver(),
]
BESIDE: list[Move] = [
    lambda _, network, run: network.do_what_is_due(),
    lambda _, network, run: network.list_arrives(),
    lambda _, network, run: network.report(),
    lambda _, network, run: network.oldest_report_arrives(),
    lambda _, network, run: network.newest_report_arrives(),
]
FAULTS: list[Move] = [
    lambda _, network, run: network.lose(),
    lambda _, network, run: network.restart(),
    lambda _, network, run: network.wait(),
]
MOVES = st.sampled_from([*SERVER * 4, *STREAM * 3, *BESIDE * 3, *FAULTS])


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(MOVES, st.sampled_from(RUNS)), min_size=15, max_size=60))
def test_whatever_happens_an_application_ends_with_what_the_server_says(
    moves: list[tuple[Move, str]],
) -> None:
    server, application = Server(), Application()
    network = Network(server, application)
    for move, run in moves:
        move(server, network, run)
        application.check(server.now)

    network.deliver()

    ours = {name: d for name, d in application.board.items() if application.put_up[name][0] == server.lives}
    standing = {each.id: each.revision for each in server.log.snapshot(server.now)}
    assert {name: each.revision for name, each in ours.items()} == standing
    assert application.session.resume == server.log.cursor
