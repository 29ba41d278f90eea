"""The name of an account says which it is: no two accounts have the same one, whatever their values hold."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from spanfuse_processor.engine.budget import Account

budgets = st.text("ab_.:/-", min_size=1, max_size=3)  # what a policy may call one
values = st.lists(st.text("ab,\\[]/= \n", max_size=4) | st.text(max_size=4), max_size=3).map(tuple)
accounts = st.builds(Account, budgets, values)


def read(name: str) -> Account:
    """The account of a name, character by character."""
    budget, bracket, rest = name.partition("[")
    if not bracket:
        return Account(budget)
    assert rest.endswith("]")
    found, characters = [""], iter(rest[:-1])
    for character in characters:
        if character == ",":
            found.append("")
        else:
            found[-1] += next(characters) if character == "\\" else character
    return Account(budget, tuple(found))


@example(Account("daily", ("ann,chat",)))
@example(Account("daily", ("ann\\", "chat")))
@example(Account("daily", ("", "")))
@example(Account("daily", ("a]/b=c[",)))
@given(accounts)
def test_a_name_can_be_read_back(account: Account) -> None:
    assert read(str(account)) == account


@given(accounts)
def test_plain_values_stand_as_they_are(account: Account) -> None:
    plain = all("," not in value and "\\" not in value for value in account.values)

    assert not plain or all(value in str(account) for value in account.values)
