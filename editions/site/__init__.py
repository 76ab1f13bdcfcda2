"""The static site: the lessons as pages, exercises to try in place, the ledger, the docs. `make site` builds it.

`source.py` lays what Sphinx reads, `conf.py` is Sphinx's, `folding.py` folds what goes deeper, `formulas.py` sets
formulas, `build.py` runs the steps. Pages link each other by relative addresses only.
"""
