"""A term: what marks were before, what a policy makes of them, and several homeworks in one table."""
