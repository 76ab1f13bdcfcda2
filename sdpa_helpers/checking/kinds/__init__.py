"""Exercises of other kinds than a function: a bug to be found, test cases, a derivation, an answer in words."""
