"""What a learner sees: the verdict in words, as text and as a card."""
