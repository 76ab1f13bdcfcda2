"""One token at a time, and sequences of different lengths: a cache of keys, and packed sequences."""
