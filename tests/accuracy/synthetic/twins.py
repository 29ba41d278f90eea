"""Honest work that looks like a loop: the twins of the tails, each of which ends in what it was for.

Rule 1: as in `loops`: a function of an actor; the onset that it returns is where it begins. Rule 2: what
makes it honest is in what is recorded: an answer that changes, time between, a new object, a user. It does
not know which rules it has fooled.
"""

from __future__ import annotations

import json

from tests.accuracy.synthetic.actor import Actor

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip


def _done(actor: Actor, began: int) -> int:
    actor.think("That was the last of it: everything you asked for is done, and here is the result.")
    return began


def polling_with_progress(actor: Actor) -> int:
    """A job is asked how far it is, and is further each time."""
    began = len(actor.steps)
    for percent in range(4, 101, 4):
        actor.call("get_job_status", {"job": "J-17"}, json.dumps({"state": "running", "percent": percent}))
        actor.wait(3.0)
    return _done(actor, began)


def polling_patiently(actor: Actor) -> int:
    """A job is asked every ten seconds, and says the same until it is done."""
    began = len(actor.steps)
    for number in range(24):
        state = "running" if number < 23 else "done"
        actor.call("get_job_status", {"job": "J-17"}, json.dumps({"job": "J-17", "state": state}))
        actor.wait(7.0)
    return _done(actor, began)


def looking_each_minute(actor: Actor) -> int:
    """A tool of no telling name is asked each minute, and says the same until it does not."""
    began = len(actor.steps)
    for number in range(16):
        state = "in transit" if number < 15 else "delivered"
        actor.call("get_shipment", {"parcel": "P-4"}, json.dumps({"parcel": "P-4", "state": state}))
        actor.wait(57.0)
    return _done(actor, began)


def hourly_job(actor: Actor) -> int:
    """A job that runs each hour and finds nothing to do."""
    began = len(actor.steps)
    for _ in range(12):
        actor.call("list_new_tickets", {"queue": "support"}, "[]")
        actor.think("No new tickets.")
        actor.wait(3_590.0)
    return _done(actor, began)


def paging(actor: Actor) -> int:
    """A long list, page by page."""
    began = len(actor.steps)
    for page in range(30):
        rows = [{"id": page * 20 + row, "name": f"customer {page * 20 + row}"} for row in range(20)]
        asked = {"offset": page * 20, "limit": 20}
        actor.call("list_customers", asked, json.dumps(rows if page < 29 else rows[:7]))
    return _done(actor, began)


def watching_a_log(actor: Actor) -> int:
    """A log is read again and again while a build writes it: there is always another line."""
    began = len(actor.steps)
    log = ""
    for number in range(20):
        log += f"[{number * 5}%] compiling {actor.world.topic.split()[number % 3]}_{number}.c\n"
        actor.call("read_file", {"path": "var/build.log"}, log)
        actor.wait(2.0)
    return _done(actor, began)


def sweep_without_finds(actor: Actor) -> int:
    """Every date is tried, and none has a seat until the last."""
    began = len(actor.steps)
    for day in range(1, 27):
        found = "[]" if day < 26 else '[{"flight": "HAT023", "seats": 2}]'
        asked = {"origin": "SFO", "destination": "JFK", "date": f"2026-05-{day:02d}"}
        actor.call("search_direct_flight", asked, found)
    return _done(actor, began)


def sweep_of_refusals(actor: Actor) -> int:
    """Every date of two weeks is tried, and each but the last is answered by one and the same sentence."""
    began = len(actor.steps)
    refusal = "There are no direct flights with seats left between these two airports on the date given."
    for day in range(1, 15):
        found = refusal if day < 14 else '[{"flight": "HAT023", "seats": 2}]'
        asked = {"origin": "SFO", "destination": "JFK", "date": f"2026-05-{day:02d}"}
        actor.call("search_direct_flight", asked, found)
    return _done(actor, began)


def edit_and_test(actor: Actor) -> int:
    """Edits, and a test whose failures become fewer, if not each time."""
    began = len(actor.steps)
    for number in range(18):
        edit = {"path": f"src/part{number % 3}.py", "old": f"value == {number}", "new": f"value >= {number}"}
        actor.call("str_replace", edit, "The file has been edited.")
        failed = 9 - number // 2
        report = f"{failed} failed, {40 - failed} passed" if failed else "40 passed"
        actor.call("bash", {"command": "pytest -q"}, report, error=failed > 0)
    return _done(actor, began)


def equal_reads_at_once(actor: Actor) -> int:
    """One answer asks for the same reading six times side by side; then the work goes on."""
    began = len(actor.steps)
    actor.at_once([actor.look(0)] * 6)
    for number in range(1, 9):
        actor.call(*actor.look(number))
    actor.at_once([actor.look(9)] * 5)
    return _done(actor, began)


def batch_with_ids(actor: Actor) -> int:
    """A task is made for each of many items."""
    began = len(actor.steps)
    for number in range(30):
        actor.call("create_task", {"title": f"Call customer {number}"}, json.dumps({"id": 700 + number}))
    return _done(actor, began)


def batch_of_oks(actor: Actor) -> int:
    """Many records are set, one after the other, and each is answered by the same word."""
    began = len(actor.steps)
    for number in range(30):
        actor.call("update_record", {"id": 4_000 + number, "status": "archived"}, "ok")
    return _done(actor, began)


def batch_of_labels(actor: Actor) -> int:
    """A model without tools labels many mails, each by one of three words."""
    began = len(actor.steps)
    for number in range(40):
        mail = f"Classify this mail: {actor.sentence(number)} Reference {actor.token()}."
        actor.answer_alone(("invoice", "spam", "question")[actor.rng.randrange(3)], mail)
    return _done(actor, began)


def retries_that_wait(actor: Actor) -> int:
    """A service is overloaded; each try waits twice as long, and the seventh is answered."""
    began = len(actor.steps)
    tool, arguments, answer = actor.look(0)
    for number in range(6):
        actor.call(tool, arguments, "429 Too Many Requests: rate limit exceeded, retry later", error=True)
        actor.wait(2.0**number)
    actor.call(tool, arguments, answer)
    return _done(actor, began)


def next_month(actor: Actor) -> int:
    """A button is pressed until the calendar shows the month that was wanted."""
    began = len(actor.steps)
    for number in range(20):
        shown = f"calendar shows {_MONTHS[number % 12]} {2026 + number // 12}"
        actor.call("click", {"selector": "button.next-month"}, shown)
    return _done(actor, began)


def answered_by_a_person(actor: Actor) -> int:
    """A person says something each time, and is asked the same question."""
    began = len(actor.steps)
    for _ in range(10):
        actor.wait(20.0)
        actor.think("Thank you. Is there anything else that I can help you with?", user=True)
    return _done(actor, began)


def two_agents_at_work(actor: Actor) -> int:
    """A planner gives a worker one task after the other, and each brings something."""
    began = len(actor.steps)
    for number in range(12):
        actor.agent = "planner"
        actor.think(f"Next is part {number}: please find out {actor.question(number)}.")
        actor.agent = "worker"
        actor.call(*actor.look(number))
        actor.think(
            f"Part {number} is clear now: it has {number + 2} sections, and {actor.token()} is its key."
        )
    actor.agent = "planner"
    return _done(actor, began)


def helpers_in_other_processes(actor: Actor) -> int:
    """A planner calls eight helpers as services, one after the other, each with a task of its own."""
    began = len(actor.steps)
    for number in range(8):
        actor.place, actor.depth, actor.agent = 0, 0, "planner"
        actor.think(f"Part {number} goes to a helper.")
        actor.place, actor.depth, actor.agent = number + 1, 1, "helper"
        actor.enter("helper", f"Summarise part {number}")
        actor.call(*actor.look(number))
        actor.think(f"Part {number} is about {actor.token()}.")
    actor.place, actor.depth, actor.agent = 0, 0, "planner"
    return _done(actor, began)


def three_samples(actor: Actor) -> int:
    """Three equal helpers are wanted, to compare what they say."""
    began = len(actor.steps)
    for number in range(3):
        actor.call(
            "spawn_helper", {"task": "estimate the effort"}, f"{number + 4} days, because {actor.token()}"
        )
    return _done(actor, began)
