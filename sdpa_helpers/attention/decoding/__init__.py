"""One token at a time: a cache of keys."""
