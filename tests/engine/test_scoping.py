"""What holds where: the last rule that matches decides, by place, by profile, by agent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import CountLimits, agent, ended, model

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import NOBODY, Identity
from spanfuse_processor.engine.policy import Match, Policy, PolicyError, PolicyRule, Profile
from spanfuse_processor.engine.scoping import (
    KEPT,
    Place,
    Reaction,
    Resolution,
    Scoping,
    agent_of,
    covers,
)
from spanfuse_processor.engine.verdicts import Finding, Mode, Severity

SHADOW, WARN, ENFORCE = Mode.SHADOW, Mode.WARN, Mode.ENFORCE
CHAT = Match(feature=("chat",))


def scoping(policy: Policy, **limits: Any) -> Scoping:
    return Scoping(policy, limits or {"third": CountLimits(), "other": CountLimits()})


def call(event: CallEnded, *agents: str) -> Call:
    return Call(event, "run", 1, 0, 0, agents, True)


def at(feature: str = "", tool: str = "search", agent: str = "", **who: Any) -> Call:
    """The call of a tool, made somewhere."""
    return call(ended(1, name=tool, identity=Identity(feature=feature, **who)), *filter(None, (agent,)))


def rule(
    mode: Mode | None = None, profile: Profile | None = None, detectors: Any = None, **match: str
) -> Any:
    patterns = {name: (pattern,) for name, pattern in match.items()}
    return PolicyRule(Match(**patterns), mode, profile, detectors or {})


class TestMatching:
    @pytest.mark.parametrize(
        ("match", "place", "covered"),
        [
            (Match(), Place(), True),
            (CHAT, Place(feature="chat"), True),
            (CHAT, Place(feature="chatter"), False),
            (CHAT, Place(), False),
            (Match(feature=("chat", "mail-*")), Place(feature="mail-in"), True),
            (Match(feature=("chat",), tool=("get_*",)), Place(feature="chat", tool="get_page"), True),
            (Match(feature=("chat",), tool=("get_*",)), Place(feature="chat", tool="put_page"), False),
            (Match(agent=("*",)), Place(agent="main"), True),
            (Match(agent=("*",)), Place(), False),
            (Match(tenant=("a[cd]me",)), Place(tenant="acme"), True),
            (Match(service=("App",)), Place(service="app"), False),
        ],
    )
    def test_a_rule_is_for_what_all_its_patterns_match(
        self, match: Match, place: Place, covered: bool
    ) -> None:
        assert covers(match, place) is covered

    def test_a_call_is_its_innermost_agents_and_a_launch_is_the_launchers(self) -> None:
        assert agent_of(call(ended(1), "main", "helper")) == "helper"
        assert agent_of(call(ended(1, agent="helper"), "main")) == "helper"
        assert agent_of(call(agent(1, agent="helper"), "main")) == "main"
        assert agent_of(call(agent(1, agent="main"))) == "main"
        assert agent_of(call(ended(1))) == ""


class TestModes:
    @pytest.mark.parametrize(
        ("policy", "mode"),
        [
            (Policy(), ENFORCE),
            (Policy(mode=SHADOW), SHADOW),
            (Policy(detectors={"third": {"mode": WARN}}), WARN),
            (Policy(detectors={"third": CountLimits(mode=WARN)}), WARN),
            (Policy(mode=SHADOW, detectors={"third": {"mode": ENFORCE}}), ENFORCE),
            (Policy(rules=(rule(WARN, feature="chat"),)), WARN),
            (Policy(rules=(rule(WARN, feature="mail"),)), ENFORCE),
            (Policy(rules=(rule(WARN, feature="chat"), rule(SHADOW, namespace="prod"))), SHADOW),
            (Policy(rules=(rule(SHADOW, namespace="prod"), rule(WARN, feature="chat"))), WARN),
            (Policy(rules=(rule(WARN), rule(profile=Profile.BATCH, feature="chat"))), WARN),
            (Policy(rules=(rule(WARN, tool="search"),)), WARN),
            (Policy(rules=(rule(WARN, tool="search", detector="other"),)), ENFORCE),
            (Policy(rules=(rule(WARN, tool="search", detector="th*"),)), WARN),
            (Policy(rules=(rule(WARN, agent="coder"),)), WARN),
            (Policy(rules=(rule(detectors={"third": {"mode": WARN}}, tool="search"),)), WARN),
            (Policy(rules=(rule(SHADOW, None, {"third": {"mode": WARN}}, feature="chat"),)), WARN),
        ],
    )
    def test_the_last_that_matches_and_says_a_mode_decides(self, policy: Policy, mode: Mode) -> None:
        where = at("chat", agent="coder", namespace="prod")

        assert scoping(policy).reaction(where, "third").mode is mode

    @pytest.mark.parametrize(
        ("named", "general", "mode"),
        [(WARN, ENFORCE, WARN), (ENFORCE, SHADOW, SHADOW), (SHADOW, WARN, SHADOW), (WARN, WARN, WARN)],
    )
    def test_a_rule_that_names_no_detector_only_softens_what_was_said_of_one_by_name(
        self, named: Mode, general: Mode, mode: Mode
    ) -> None:
        by_policy = Policy(detectors={"third": {"mode": named}}, rules=(rule(general, feature="chat"),))
        by_rule = Policy(rules=(rule(named, detector="third"), rule(general, feature="chat")))

        modes = {scoping(each).reaction(at("chat"), "third").mode for each in (by_policy, by_rule)}
        others = {scoping(each).reaction(at("chat"), "other").mode for each in (by_policy, by_rule)}

        assert (modes, others) == ({mode}, {general})

    def test_a_rule_that_names_the_detector_may_make_it_stricter_again(self) -> None:
        rules = (rule(WARN, detector="third"), rule(ENFORCE, detector="third", feature="chat"))

        assert scoping(Policy(rules=rules)).reaction(at("chat"), "third").mode is ENFORCE
        assert scoping(Policy(rules=rules)).reaction(at("mail"), "third").mode is WARN


class TestTiers:
    def finding(self, severity: Severity, rule: str) -> Finding:
        return Finding("third", severity, "LOOP", "again", b"s", 1, 1.0, 1.0, rule=rule)

    @pytest.mark.parametrize(
        ("said", "seen", "worth"),
        [
            ("equal", Severity.STOP, Severity.STOP),
            ("stop", Severity.STOP, Severity.WARN),
            ("warn", Severity.WARN, Severity.STOP),
            ("equal", Severity.WARN, Severity.WARN),
        ],
    )
    def test_a_stop_may_be_lowered_and_a_warning_lifted_by_the_name_of_the_rule(
        self, said: str, seen: Severity, worth: Severity
    ) -> None:
        reaction = Reaction(only_warn=("stop",), also_stop=("warn",))

        assert reaction.severity(self.finding(seen, said)) is worth

    def test_tiers_are_those_of_the_last_that_says_any(self) -> None:
        rules = (rule(detectors={"third": {"only_warn": ("warn",)}}, tool="search"), rule(WARN))
        policy = Policy(detectors={"third": {"only_warn": ("stop",)}}, rules=rules)

        made = scoping(policy)

        assert made.reaction(at(tool="search"), "third").only_warn == ("warn",)
        assert made.reaction(at(tool="fetch"), "third").only_warn == ("stop",)
        assert made.reaction(at(tool="fetch"), "other").only_warn == ()


class TestProfiles:
    @pytest.mark.parametrize(
        ("policy", "said", "profile"),
        [
            (Policy(), "", Profile.INTERACTIVE),
            (Policy(), "batch", Profile.BATCH),
            (Policy(profile=Profile.LONG), "", Profile.LONG),
            (Policy(profile=Profile.LONG), "batch", Profile.BATCH),
            (Policy(profile=Profile.LONG), "unheard of", Profile.LONG),
            (Policy(rules=(rule(profile=Profile.LONG, feature="chat"),)), "batch", Profile.LONG),
            (Policy(rules=(rule(profile=Profile.LONG, feature="mail"),)), "batch", Profile.BATCH),
        ],
    )
    def test_a_rules_goes_over_what_the_run_says_and_that_over_the_policys(
        self, policy: Policy, said: str, profile: Profile
    ) -> None:
        assert scoping(policy).profile(Identity(feature="chat", profile=said)) is profile

    def test_a_rule_may_ask_for_the_profile(self) -> None:
        patient = PolicyRule(Match(profile=("batch",)), WARN, detectors={"third": {"stop": 9}})
        policy = Policy(rules=(patient,))

        made = scoping(policy)

        assert made.limits(made.resolution(Identity(profile="batch")))["third"] == CountLimits(stop=9)
        assert made.limits(made.resolution(NOBODY))["third"] == CountLimits()
        assert made.reaction(call(ended(1, identity=Identity(profile="batch"))), "third").mode is WARN


class TestLimits:
    def limits(self, policy: Policy, who: Identity = NOBODY, agent: str = "") -> CountLimits:
        made = scoping(policy)
        found = made.limits(made.resolution(who, agent))["third"]
        assert isinstance(found, CountLimits)
        return found

    def test_rules_go_over_the_policy_field_by_field(self) -> None:
        rules = (
            rule(detectors={"third": {"warn": 7}}),
            rule(detectors={"third": {"stop": 9}}, feature="chat"),
        )
        policy = Policy(detectors={"third": {"warn": 5, "stop": 6}}, rules=rules)

        assert self.limits(policy, Identity(feature="chat")) == CountLimits(warn=7, stop=9)
        assert self.limits(policy) == CountLimits(warn=7, stop=6)

    def test_limits_made_in_code_hold_whole(self) -> None:
        policy = Policy(
            detectors={"third": {"warn": 5}}, rules=(rule(detectors={"third": CountLimits(stop=8)}),)
        )

        assert self.limits(policy) == CountLimits(stop=8)

    def test_a_list_in_a_policy_made_in_code_is_as_good_as_a_tuple(self) -> None:
        """Detectors keep what they make of their limits by the limits themselves."""
        limits = self.limits(Policy(detectors={"third": {"only_warn": ["stop"]}}))

        assert hash(limits) == hash(CountLimits(only_warn=("stop",)))

    def test_an_agent_may_have_its_own(self) -> None:
        policy = Policy(rules=(rule(detectors={"third": {"stop": 9}}, agent="coder"),))

        assert self.limits(policy, agent="coder").stop == 9
        assert self.limits(policy, agent="planner").stop == 3
        assert self.limits(policy).stop == 3

    def test_places_for_which_the_same_rules_hold_share_their_limits(self) -> None:
        made = scoping(Policy(rules=(rule(detectors={"third": {"stop": 9}}, feature="b-*"),)))
        first, second, third = (made.resolution(Identity(feature=name)) for name in ("b-1", "b-2", "chat"))

        assert first == second == Resolution(Profile.INTERACTIVE, (0,))
        assert made.limits(first) is made.limits(second)
        assert made.limits(third) is not made.limits(first)

    def test_what_is_kept_of_places_is_bounded(self) -> None:
        made = scoping(Policy(rules=(rule(WARN, feature="b-*"),)))

        modes = {made.reaction(at(f"b-{number}"), "third").mode for number in range(KEPT + 10)}

        assert modes == {WARN}
        assert len(made._reactions) <= KEPT
        assert len(made._resolutions) <= KEPT

    def test_a_limit_that_a_detector_does_not_have_is_refused_when_the_policy_is_taken(self) -> None:
        with pytest.raises(PolicyError, match=r"rule 1\.third: .*'stopp'"):
            scoping(Policy(rules=(rule(detectors={"third": {"stopp": 9}}, feature="never"),)))

    def test_a_models_call_is_of_no_tool(self) -> None:
        made = scoping(Policy(rules=(rule(WARN, tool="*"),)))

        assert made.reaction(call(model(1)), "third").mode is ENFORCE
        assert made.reaction(at(), "third").mode is WARN
