"""The engine that checks an exercise and names the mistake: it knows no lesson and takes any.

`exercise` says what an exercise is, `observe` calls a function, `judge` compares, `diagnose` explains, `rules` finds
what is not allowed, `shrink` finds a small example of a failure, `render` shows the verdict.
"""
