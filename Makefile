# Two commands do all the set-up: `make run` and `make test`. Everything lives in .venv. `make help` lists the rest.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --progress-bar on -c requirements.lock
QUIET := sed -nuE 's/^(Collecting|Downloading) ([^ ,;(<>=]*).*/  \1 \2/p; s/^Installing collected.*/  Installing …/p; s/^Successfully installed.*/  Installed./p'
HOST ?= 127.0.0.1
PORT ?= 8080

.PHONY: help setup run test test-long lint browser nets clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(VENV)/.ready-run  ## the environment, with what running needs

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Legato needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec

$(VENV)/.ready-run: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing Legato and the packages of requirements.lock into $(VENV) (minutes, the first time) …"
	@$(PIP) -e . | $(QUIET)
	@touch $@

$(VENV)/.ready-test: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing Legato, its judges and its test tools into $(VENV) (minutes, the first time) …"
	@$(PIP) -e '.[test]' | $(QUIET)
	@touch $@ $(VENV)/.ready-run

run: setup  ## the server with the lab's network sliders; prints the URL (PORT=8080 HOST=127.0.0.1)
	$(BIN)/legato serve --lab --host $(HOST) --port $(PORT)

browser:  ## Debian's chromium for the browser tests, when root; else says what is skipped
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Debian's chromium for the browser tests …"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else echo "No chromium here and not root: the browser tests are skipped. Install it (apt-get install chromium) to run them."; fi

lint: $(VENV)/.ready-test  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

nets:  ## Debian's coturn and nginx for the tests behind TURN and a proxy, when root in a container; else says what is skipped
	@if command -v turnserver >/dev/null && { command -v nginx || test -x /usr/sbin/nginx; } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ ! -d /run/systemd/system ]; then \
		echo "Installing Debian's coturn and nginx for the tests behind TURN and a proxy …"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends coturn nginx-light >/dev/null; \
	else echo "No coturn or nginx here: the tests behind TURN and a proxy are skipped. Installed here they would start as services; install them (apt-get install coturn nginx-light) to run them."; fi

test: $(VENV)/.ready-test browser nets lint  ## every test but the long ones: first those that share the processors, then those that want them alone, then the notebooks; a failure is tried once more, and named
	failed=0; \
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile --reruns 1 -m "not long and not alone" || failed=1; \
	$(BIN)/pytest --reruns 1 -m "alone and not long" || failed=1; \
	$(BIN)/pytest -n auto --maxprocesses 4 --nbmake --nbmake-timeout=300 notebooks || failed=1; \
	exit $$failed

test-long: $(VENV)/.ready-test browser nets  ## the tests that take minutes
	$(BIN)/pytest -m long

clean:  ## the environment and every cache away
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
