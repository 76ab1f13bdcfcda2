"""The engine that checks an exercise and names the mistake: it knows no lesson and takes any.

`exercise` says what an exercise is, `observe` calls a function, `not_there` stands for what it can't use, `judge`
compares, `diagnose` explains, `shrink` finds a small example of a failure, `render` shows the verdict.
"""
