# For learners `make lab` is enough. `make help` lists the rest: teachers.mk, where it is there, has what authors,
# graders and maintainers need. The student edition is without it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LAB_FLAGS ?=

# An index with PyTorch's CPU build, as PyTorch's "Get started" page names it: without an NVIDIA driver the GPU libraries
# of pip's own choice for Linux are gigabytes for nothing.
TORCH_INDEX ?=
GPU := $(wildcard /proc/driver/nvidia/version)
CPU_BUILD := $(if $(GPU),,$(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)))

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
	@[ ! -L $(VENV) ] || rm $(VENV)  # a link leads to another's environment, which is not ours to clear
	@start=$$(date +%s); say() { echo "[$$(($$(date +%s) - start)) s] $$*"; }; set -e; \
	  pip() { $(BIN)/python -m pip install -qq --disable-pip-version-check --progress-bar off -c constraints.txt "$$@"; }; \
	  echo "Setting up $(VENV) for $*: a minute or two the first time, more where the network is slow; then seconds."; \
	  say "1 of 4: Python's own environment"; \
	  { [ -z "$(ELSEWHERE)" ] && $(BIN)/python -c 'import pip'; } 2> /dev/null || $(PYTHON) -m venv --clear $(VENV); \
	  printf '%s' "$(CURDIR)" > $(PLACE); \
	  say "2 of 4: PyTorch, about 0.9 GB; the build for NVIDIA GPUs, pip's own choice on Linux, about 4.7 GB"; \
	  pip $(CPU_BUILD) torch; \
	  say "3 of 4: JupyterLab and the rest, about 0.4 GB"; \
	  pip -e ".[lab,$*]"; \
	  say "4 of 4: the list of this machine's fonts"; \
	  $(BIN)/python -c "import matplotlib.font_manager"; \
	  say "done"
	@touch $(VENV)/.with-lab $@

lab: $(VENV)/.with-lab  ## open your copies of the lessons, in work/ (LAB_FLAGS="--no-browser --port 8899" passes flags on)
	@$(BIN)/python -m sdpa_helpers lab $(LAB_FLAGS)

clean:  ## remove the environment and everything built
	rm -rf $(VENV) build dist

-include teachers.mk
