"""What came back: calls an answer within its limits, without what isn't there; carries all as plain data."""
