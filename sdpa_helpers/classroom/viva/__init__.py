"""Two minutes on one's own answer: questions made from a learner's code, and their answers, computed by running it."""
