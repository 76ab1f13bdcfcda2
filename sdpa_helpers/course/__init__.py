"""What all lessons share: the list of them, checks and hints, progress, decks, the ledger, the readers of content."""
