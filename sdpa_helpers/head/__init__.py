"""A trained head that answers who drinks what, run by a function that the learner wrote."""
