# Two commands are enough: `make lab` to learn, `make test` to check everything. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LAB_FLAGS ?=
# What is installed beside the course itself; EXTRAS=dev,gpu adds Triton, a big download.
EXTRAS ?= dev

# A copied or moved checkout keeps a .venv that points at the old place: make it again.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
$(shell rm -f $(STAMP))
endif

.PHONY: help lab test grade notebooks ledger lint clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z]+: .*##|^[a-z]+:  ##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */make \1|/' | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "This course needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 ..."; exit 2; }
	@echo "Setting up $(VENV): about a minute the first time, seconds afterwards."
	@[ -f $(STAMP) ] || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e ".[$(EXTRAS)]"
	@$(BIN)/python -c "import matplotlib.font_manager"
	@printf '%s' "$(CURDIR)" > $(STAMP)

# Jupyter refuses to run as root unless told; in a container one often is.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

lab: $(STAMP)  ## open the course in JupyterLab (LAB_FLAGS="--no-browser --port 8899" passes flags on)
	@JUPYTER_CONFIG_PATH="$(CURDIR)/.jupyter" $(BIN)/python -m jupyter lab \
	  --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb --ServerApp.root_dir="$(CURDIR)" $(AS_ROOT) $(LAB_FLAGS)

test: $(STAMP)  ## run every test: the package, the grader, every notebook
	@$(BIN)/python -m pytest --nbval --nbval-current-env -n 2 --dist loadfile

grade: $(STAMP)  ## the grader's demo: grade tests/submissions into build/grades
	@$(BIN)/python -m sdpa_helpers grade tests/submissions --out build/grades --seed demo --timeout 20 --fresh

notebooks: $(STAMP)  ## execute and store every notebook again, and write exercises/ from solutions/
	@$(BIN)/python -m sdpa_helpers.classroom.authoring

ledger: $(STAMP)  ## compute every claim of the ledger again and write docs/ledger.md
	@$(BIN)/python -m sdpa_helpers.lessons.ledger_page

lint: $(STAMP)  ## ruff and pyright; eslint where npm is installed
	@$(BIN)/python -m ruff check . && $(BIN)/python -m ruff format --check . && $(BIN)/python -m pyright
	@if ! command -v npm > /dev/null; then echo "npm is not installed: the JavaScript was NOT checked."; exit 0; fi; \
	  [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error; \
	  node_modules/.bin/eslint .

clean:  ## remove the environment and everything built
	rm -rf $(VENV) build
