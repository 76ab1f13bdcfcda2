#!/bin/sh
# sh .github/check.sh NOTEBOOK …: what `sdpa check` says of each, as the summary of a run, or on the screen.
# A learner's text never becomes part of a command: it goes from one file into another.
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
for notebook in "$@"; do
  name=$(basename "$notebook" .ipynb)
  {
    printf '## %s\n\n' "$name"
    # Indented by four: a block of code in Markdown, whatever stands in it.
    python -m sdpa_helpers check "$notebook" 2>&1 | head -c 60000 | sed 's/^/    /'
    printf '\n'
  } >> "$summary"
done
