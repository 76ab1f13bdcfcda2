# For learners `make lab` is enough. `make help` lists the rest: teachers.mk, where it is there, has what authors,
# graders and maintainers need. The student edition is without it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LAB_FLAGS ?=

.PHONY: help lab clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -Eh '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */make \1|/' | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

# An archive for a room without internet brings its wheels along; then pip looks at nothing else.
ifneq ($(wildcard wheels/fits.py),)
export PIP_NO_INDEX := 1
export PIP_FIND_LINKS := wheels
FITS := wheels/fits.py
endif

# A copied or moved checkout keeps a .venv that belongs to the old place: make one here.
PLACE := $(VENV)/.place
ifneq ($(shell cat $(PLACE) 2> /dev/null),$(CURDIR))
ELSEWHERE := elsewhere
endif
.PHONY: elsewhere

# .with-EXTRAS says that these extras of pyproject.toml are installed; those of learners always are.
$(VENV)/.with-%: pyproject.toml constraints.txt $(ELSEWHERE)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "This course needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 ..."; exit 2; }
	@[ -z "$(FITS)" ] || $(PYTHON) $(FITS)
	@echo "Setting up $(VENV) for $*: a minute or two the first time, seconds afterwards."
	@[ ! -L $(VENV) ] || rm $(VENV)  # a link leads to another's environment, which is not ours to clear
	@{ [ -z "$(ELSEWHERE)" ] && $(BIN)/python -c ''; } 2> /dev/null || $(PYTHON) -m venv --clear $(VENV)
	@printf '%s' "$(CURDIR)" > $(PLACE)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e ".[lab,$*]"
	@$(BIN)/python -c "import matplotlib.font_manager"
	@touch $(VENV)/.with-lab $@

lab: $(VENV)/.with-lab  ## open your copies of the lessons, in work/ (LAB_FLAGS="--no-browser --port 8899" passes flags on)
	@$(BIN)/python -m sdpa_helpers lab $(LAB_FLAGS)

clean:  ## remove the environment and everything built
	rm -rf $(VENV) build dist

-include teachers.mk
