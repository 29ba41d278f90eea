"""What a tool's name lets one expect."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine import effects

NAMES = {
    "read": "read_file ReadFile mcp__fs__list_directory web_search get_email search_email get_refund",
    "exec": "bash run_query execute_sql Plugin-run_command",
    "write": "write_to_file str_replace_editor update_order_status book_flight",
    "send": "send_email slackPost_message notify_user",
    "spawn": "spawn_subagent delegate_to_agent",
    "wait": "wait sleep CheckStatus job_status status get_job check_build poll_export monitor_start "
    "view_background_agent read_progress scroll_down send_keys",
    "": "frobnicate 12 _",
}


@pytest.mark.parametrize(
    ("tool", "effect"), [(tool, effect) for effect, tools in NAMES.items() for tool in tools.split()]
)
def test_a_name_gives_an_effect(tool: str, effect: str) -> None:
    assert effects.guess(tool) == effect


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "sleep 110"},
        '{"command": ""}',
        {"cmd": " tail -f log"},
        {"action": "log", "sessionId": "s"},
    ],
)
def test_a_shell_that_lets_time_pass_is_waiting(arguments: object) -> None:
    assert effects.guess("bash", arguments) == "wait"


@pytest.mark.parametrize("arguments", [{"command": "ls"}, "ls", None, [1], {"command": 7}, {"action": "run"}])
def test_a_shell_that_does_something_is_not(arguments: object) -> None:
    assert effects.guess("bash", arguments) == "exec"


def test_arguments_do_not_overrule_a_telling_name() -> None:
    assert effects.guess("read_file", {"command": "sleep 1"}) == "read"
