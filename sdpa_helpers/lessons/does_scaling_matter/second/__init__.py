"""Lesson 10's second experiment: each article's own sentence, and tuned is what is compared."""
