"""`import spanfuse` is light; every public name is there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.library.programs import environment

import spanfuse


def fresh(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment(),
    )
    return done.stdout


def test_import_loads_nothing_heavy() -> None:
    loaded = set(json.loads(fresh("import json, sys, spanfuse; print(json.dumps(sorted(sys.modules)))")))

    heavy = {
        "asyncio",
        "grpc",
        "google.protobuf",
        "numpy",
        "openai",
        "yaml",
        "genai_prices",
        "wrapt",
        "pydantic",
    }
    assert loaded & heavy == set()
    assert "opentelemetry.trace" not in loaded


def test_using_it_loads_no_asyncio_either() -> None:
    code = "import sys, spanfuse\nwith spanfuse.run(): pass\nprint('asyncio' in sys.modules)"

    assert fresh(code).strip() == "False"


@pytest.mark.parametrize("name", spanfuse.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(spanfuse, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        spanfuse.nothing  # noqa: B018


def test_a_module_of_the_same_name_does_not_hide_a_function() -> None:
    assert (
        fresh("import spanfuse.auto, spanfuse.instrument; print(callable(spanfuse.instrument))").strip()
        == "True"
    )
