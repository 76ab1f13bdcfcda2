"""Which mistake was made: what a known one would have answered, and whether that is what came back."""
