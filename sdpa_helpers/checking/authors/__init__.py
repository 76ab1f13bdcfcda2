"""For who writes an exercise: which wrong answers its cases let pass."""
