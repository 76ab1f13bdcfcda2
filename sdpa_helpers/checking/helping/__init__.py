"""What helps a learner on: the smallest example of a failure, the smallest change that mends it."""
