"""What may change in the formula: which keys a query sees, what becomes of a score, where a row's weight may go."""
