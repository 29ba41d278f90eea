"""What a tool's name lets one expect."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine import effects

NAMES = {
    "read": "read_file ReadFile mcp__fs__list_directory web_search get_email search_email get_refund "
    "get_issue_comment get_create_issue_form",
    "exec": "bash run_query execute_sql Plugin-run_command write_stdin",
    "write": "write_to_file str_replace_editor update_order_status book_flight add_comment regenerate "
    "create_issue_label update_ticket create_branch_for_issue",
    "send": "send_email slackPost_message create_inline_comment add_issue_comment create_issue "
    "jira_createIssue create_support_ticket submit_incident",
    "spawn": "spawn_subagent delegate_to_agent monitor_start launch_agent",
    "wait": "wait sleep CheckStatus job_status status get_job check_build poll_export monitor "
    "describe_instance get_cluster view_background_agent read_progress scroll_down send_keys increment "
    "BashOutput TaskOutput get_terminal_output check_inbox receive_messages dequeue page_down go_back "
    "env_step step drive roll_dice draw_card read_temperature take_screenshot step_over get_latest_email",
    "": "notify_user frobnicate 12 _ comment start_job review send_http_request sendPrompt",
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
        {"tool": "write_stdin", "chars": ""},
        {"command": "gh pr checks 12; sleep 30"},
        {"command": "xdotool key Down"},
        {"command": "next"},
        {"type": "keypress", "keys": ["ArrowDown"]},
        {"direction": "north"},
    ],
)
def test_a_shell_that_lets_time_pass_is_waiting(arguments: object) -> None:
    assert effects.guess("bash", arguments) == "wait"


@pytest.mark.parametrize("arguments", [{"command": "ls"}, "ls", None, [1], {"command": 7}, {"action": "run"}])
def test_a_shell_that_does_something_is_not(arguments: object) -> None:
    assert effects.guess("bash", arguments) == "exec"


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "send", "text": "hello"},
        {"content": "done", "channel": "c"},
        '{"action": "reply", "body": ""}',
    ],
)
def test_the_one_tool_for_messages_sends_when_it_is_told_what_to_say(arguments: object) -> None:
    assert effects.guess("message", arguments) == "send"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("message", {"action": "read", "channel": "c"}),
        ("message", {"action": "search", "text": "invoice"}),
        ("message", {"channel": "c"}),
        ("message", {"action": ["send"], "text": "hello"}),
        ("log_message", {"text": "one more"}),
    ],
)
def test_but_not_when_it_only_looks(tool: str, arguments: object) -> None:
    assert effects.guess(tool, arguments) == ""


@pytest.mark.parametrize("command", ["git push", "git push --force origin main", "gh pr comment 7 -b done"])
def test_a_shell_that_does_nothing_but_send_sends(command: str) -> None:
    assert effects.guess("bash", {"command": command}) == "send"


@pytest.mark.parametrize(
    "command", ["git push --dry-run", "make test && git push", "git push; ls", "git pull", "echo git push"]
)
def test_a_shell_that_also_does_something_else_does_not(command: str) -> None:
    assert effects.guess("bash", {"command": command}) == "exec"


@pytest.mark.parametrize("label", ["Next page", "Load more", "+", "Older posts"])
def test_a_click_on_what_leads_on_waits(label: str) -> None:
    assert effects.guess("click", {"role": "button", "name": label}) == "wait"


@pytest.mark.parametrize(
    "label", ["Buy now", "Add to cart", "a label that is far too long to lead to the next"]
)
def test_a_click_on_anything_else_does_not(label: str) -> None:
    assert effects.guess("click", {"role": "button", "name": label}) == "write"


@pytest.mark.parametrize(("command", "effect"), [("view", "read"), ("str_replace", "write"), (7, "write")])
def test_an_editor_that_views_reads(command: object, effect: str) -> None:
    assert effects.guess("str_replace_editor", {"command": command, "path": "a.py"}) == effect


def test_arguments_do_not_overrule_a_telling_name() -> None:
    assert effects.guess("read_file", {"command": "sleep 1"}) == "read"


@pytest.mark.parametrize(
    "tool",
    [
        *(
            "transfer_to_coder",
            "transferToCoder",
            "hand_to_reviewer",
            "route_to_billing",
            "escalate_to_human",
        ),
        *("handoff", "HandoffTool", "delegate_work_to_coworker", "mcp__team__handover", "call_subagent"),
    ],
)
def test_a_name_says_that_another_agent_goes_on(tool: str) -> None:
    assert effects.hands_over(tool)


@pytest.mark.parametrize(
    "tool", ["transfer_funds", "add_to_cart", "write_to_file", "to_upper", "convert", "transfer", "to", ""]
)
def test_or_that_none_does(tool: str) -> None:
    assert not effects.hands_over(tool)
