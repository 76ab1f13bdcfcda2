# Part of the Makefile: what authors, graders and maintainers call. It is no part of the student edition.

# What they need, beside what learners do. EXTRAS=dev,gpu adds Triton.
EXTRAS ?= dev
READY := $(VENV)/.with-$(EXTRAS)

.PHONY: all portable colab site test nightly grade exam mutants notebooks minutes ledger corners search cheat-sheet interview pictures lint kit

# Tests start hundreds of Python processes: what one has compiled serves the next, whatever the caller's shell says,
# and tests/lean stands in for a package that takes each of them a second to import.
LEAN := $(CURDIR)/tests/lean$(if $(PYTHONPATH),:$(PYTHONPATH))
test: $(READY)  ## run every test: the package, the grader, every notebook
	@env -u PYTHONDONTWRITEBYTECODE PYTHONPATH=$(LEAN) $(BIN)/python -m pytest --nbval --nbval-current-env -n 2 --dist loadfile --no-loadscope-reorder

nightly: $(READY)  ## the long searches, which `make test` has short ones of
	@set -e; env -u PYTHONDONTWRITEBYTECODE PYTHONPATH=$(LEAN) $(BIN)/python -m pytest -m nightly tests; \
	  env -u PYTHONDONTWRITEBYTECODE PYTHONPATH=$(LEAN) $(BIN)/python -m pytest --nbval --nbval-current-env solutions

grade: $(READY)  ## the grader's demo: grade tests/submissions into build/grades
	@$(BIN)/python -m sdpa_helpers grade tests/submissions --out build/grades --seed demo --timeout 20 --fresh

ENGINE ?= docker
JOBS ?= 2
MEMORY ?= 10g
exam:  ## grade IN into OUT in a container of its own, without network: see docs/exams.md (ENGINE=podman JOBS=2 MEMORY=10g)
	@[ -n "$(IN)" ] && [ -n "$(OUT)" ] || { echo "Try: make exam IN=submissions OUT=grades"; exit 2; }
	@mkdir -p -m 700 "$(OUT)"
	$(ENGINE) build --target grade -t sdpa-grade $(BUILD_FLAGS) .
	$(ENGINE) run --rm --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
	  --pids-limit 1024 --memory $(MEMORY) --memory-swap $(MEMORY) --user "$$(id -u):$$(id -g)" --env HOME=/tmp \
	  --volume "$$(realpath "$(IN)"):/in:ro" --volume "$$(realpath "$(OUT)"):/out" $(ENGINE_FLAGS) \
	  sdpa-grade grade /in --out /out --sandbox require --jobs $(JOBS) $(GRADE_FLAGS)

mutants: $(READY)  ## small changes of every right answer that is known, on the cases of its exercise: ten minutes
	@$(BIN)/python -m sdpa_helpers mutants --all-styles

notebooks: $(READY)  ## write solutions/ and exercises/ from their definitions, execute and store every notebook (NAME=03: one)
	@$(BIN)/python -m sdpa_helpers.classroom.authoring $(NAME)

# One after the other: what is written first is read by what comes next.
all: $(READY)  ## everything that is generated and tracked; a second run changes nothing (pictures: make pictures)
	@$(MAKE) --no-print-directory minutes
	@$(MAKE) --no-print-directory notebooks
	@$(MAKE) --no-print-directory ledger
	@$(MAKE) --no-print-directory corners cheat-sheet interview kit colab

portable: $(READY)  ## the lessons and their tests as three kinds of processor would run them (PYTEST="-x tests/lessons")
	@env -u PYTHONDONTWRITEBYTECODE PYTHONPATH=$(LEAN) $(BIN)/python -m sdpa_helpers.classroom.processors $(PYTEST)

minutes: $(READY)  ## write minutes and neighbors into each lesson's head, the map in lesson 00, the README's and docs' numbers
	@$(BIN)/python -m sdpa_helpers.classroom.course_map
	@$(BIN)/python -m sdpa_helpers.classroom.numbers_told

ledger: $(READY)  ## compute every claim of the ledger again and write docs/ledger.md
	@$(BIN)/python -m sdpa_helpers.course.ledger_page

corners: $(READY)  ## try every corner of attention on every backend and write docs/semantic-corners.md
	@$(BIN)/python -m sdpa_helpers.course.semantic_corners

search: $(READY)  ## look for calls of attention that come out wrong, with numbers of any size (MINUTES=10 for each backend and dtype)
	@SDPA_SEARCH=$(or $(MINUTES),1) PYTHONPATH=$(LEAN) $(BIN)/python -m pytest tests/attention/test_any_size.py -q -k of_any_size

cheat-sheet: $(READY)  ## put every lesson's cheat card on one page and write docs/cheat-sheet.html
	@$(BIN)/python -m sdpa_helpers.course.cheat_sheet

interview: $(READY)  ## write docs/interview.md from the interview deck and the numbers of the ledger
	@$(BIN)/python -m sdpa_helpers.course.interview.page

colab: $(READY)  ## write the two cells for Colab, with this version and the repository's address
	@$(BIN)/python -m editions.ways.colab

pictures: $(READY)  ## take the film and the pictures of README.md and docs/ anew, in a real browser
	@$(BIN)/python -m docs.pictures

.PHONY: archive release kit-paper print slides sizes

kit: $(READY)  ## compute the plans and pages of docs/instructors/ anew from the lessons' kit.md and editions/kit
	@$(BIN)/python -m editions.kit

kit-paper: $(READY)  ## print docs/instructors, a lesson on each sheet, and cards to vote with, into build/print/
	@$(BIN)/python -m editions.kit.paper

archive: $(READY)  ## one file for a room without internet: lessons, wheels, the site if built (PIP_FLAGS="…" go to pip)
	@$(BIN)/python -m editions.archive $(PIP_FLAGS)

release: $(READY)  ## everything that is handed out, into build/release with SHA256SUMS; the same bytes each time
	@$(BIN)/python -m editions.release

print: $(READY)  ## a PDF of each lesson and of the cheat sheet, through Chromium's print, in build/print
	@$(BIN)/python -m editions.printing

sizes: $(READY)  ## lines by room, and how long a page of an exercise is; their ceilings stand in tests/sizes.py
	@$(BIN)/python -m tests.sizes

slides: $(READY)  ## slides of each lesson's core, one file a lesson, with speaker notes, in build/slides
	@$(BIN)/python -m editions.slides

lint: $(READY)  ## ruff and pyright; eslint where npm is installed
	@$(BIN)/python -m ruff check . && $(BIN)/python -m ruff format --check . && $(BIN)/python -m pyright
	@if ! command -v npm > /dev/null; then echo "npm is not installed: the JavaScript was NOT checked."; exit 0; fi; \
	  [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error; \
	  node_modules/.bin/eslint .

site: $(READY)  ## build the static site, with all that runs in a browser, in build/site (SITE_FLAGS="--only pages")
	@$(BIN)/python -m editions.site $(SITE_FLAGS)
