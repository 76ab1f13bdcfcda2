"""The engine that checks an exercise and names the mistake: it knows no lesson and takes any.

`exercise` says what an exercise is, `diagnose` what is to be said of an answer to it. Between them lie the parts:
`answers` calls a function, `pages` reads an exercise, `judging` compares, `naming` explains; `card` shows it.
"""
