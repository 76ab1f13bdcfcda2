"""One token after the other, and sequences of different lengths: a cache of keys, and packed sequences."""
