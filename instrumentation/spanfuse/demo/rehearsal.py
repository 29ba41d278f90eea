"""What a run would do and use if nobody stopped it: the scripted conversation, played without a network.

The model is stateless and the tools are deterministic, so this is no estimate: an unguarded run over HTTP
makes the same calls and is charged the same tokens (a test holds the two together).
"""

from __future__ import annotations

from spanfuse.demo.scenarios import Scenario
from spanfuse.demo.scripts import Reply, reply_to
from spanfuse.demo.task import Task
from spanfuse.demo.usage import Tally, answers, measure
from spanfuse.demo.wire import said


def rehearse(scenario: Scenario) -> Tally:
    """Plays a scenario to its own end. Returns what the provider would have counted."""
    task, tally = Task(scenario), Tally()
    for turn in scenario.turns:
        task.hear(turn)
        while (reply := _ask(task, tally)).tool is not None:
            task.use(reply.tool.id, reply.tool.name, reply.tool.arguments)
    return tally


def _ask(task: Task, tally: Tally) -> Reply:
    tally.add(measure(task.messages, task.described), answers(task.messages))
    reply = reply_to(task.messages, frozenset(task.tools))
    tally.produced(reply)
    task.messages.append(said(reply))
    return reply
