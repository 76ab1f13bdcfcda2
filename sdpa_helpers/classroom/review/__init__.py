"""`sdpa review`: a person reads and marks what was answered in words."""
