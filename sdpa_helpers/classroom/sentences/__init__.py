"""Sentences that an instructor writes once for all answers that return the same: kept in names.toml."""
