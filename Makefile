# The commands of this project. `make demo` and `make test` work on a fresh clone: each sets up what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SHARED ?= ../shared
STAMP  := $(VENV)/.ready

.PHONY: setup demo test stores rules acceptance bench accuracy lint format protos dashboards grafana-proof clean stack stack-test

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spanfuse needs Python 3.11 or newer")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[demo]' --group dev --group bench --group grafana
	@touch $@

# Real agents run into loops, in their own processes, and are stopped. ARGS="--embedded" for no service at all.
demo: $(STAMP)
	@$(BIN)/spanfuse demo $(ARGS)

# Everything that needs no long-running service. ARGS is handed to pytest.
test: $(STAMP)
	@$(BIN)/python -m pytest -q $(ARGS)

# Stores behind real servers, started and ended by the tests: needs redis-server and postgres on this machine.
stores: $(STAMP)
	@$(BIN)/python -m pytest -q tests/stores/real $(ARGS)

# Rules and alerts in the real programs: needs promtool, amtool and prometheus-alertmanager on this machine.
rules: $(STAMP)
	@$(BIN)/python -m pytest -q tests/rules/real $(ARGS)

# All of docker-compose.yml without Docker, on loopback, until Ctrl-C. ARGS="--no-agents", ARGS="--beside".
# The first time it builds the Collector and Jaeger, which takes minutes and Go.
stack: $(STAMP)
	@scripts/stack_programs.sh
	@$(BIN)/python -m tests.stack $(ARGS)

# Agents through all of it, asked at the far ends, with times; and every file of it, asked of its own program.
stack-test: $(STAMP)
	@scripts/stack_programs.sh
	@$(BIN)/python -m pytest -q tests/stack $(ARGS)

# Real processes: kill -9, SIGSTOP, restart; and the demo, over and over.
acceptance: $(STAMP)
	@$(BIN)/python -m pytest -q tests/acceptance $(ARGS)

# Figures, as one table; never asserted. See docs/benchmarks.md for what each line means.
bench: $(STAMP)
	@$(BIN)/python -m tests.benchmarks $(ARGS)

# How accurate the judging is, beside other guards, and the forecast of spend: docs/accuracy.md and docs/forecast.md
# say what was found, and this that it still is. ARGS="--quick" for a sample of the judging, "--write" to write anew.
accuracy: $(STAMP)
	@$(BIN)/python -m tests.accuracy --shared $(SHARED) $(ARGS); judging=$$?; \
	$(BIN)/python -m tests.accuracy.forecast --shared $(SHARED) $(filter --write,$(ARGS)) && exit $$judging

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests/typing
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/protos.py --check

format: $(STAMP)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# grafana/dashboards/, from the code that makes them.
dashboards: $(STAMP)
	@$(BIN)/python -m grafana.building

# The dashboards against real servers, and drawn with Grafana's own components, and the page of `spanfuse report`
# in Chromium; scripts/dashboard_programs.sh has what it needs on this machine. GRAFANA_PICTURES is where the pictures
# go, else grafana/render/out/pictures.
grafana-proof: $(STAMP)
	@cd grafana/render && npm install --ignore-scripts --loglevel=error && npm run --silent build
	@$(BIN)/python -m pytest -q tests/grafana/live tests/reporting/browser $(ARGS)

# Generated code from every .proto file.
protos: $(STAMP)
	@$(BIN)/python scripts/protos.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
