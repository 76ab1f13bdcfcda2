"""What moves in the static site: panels and questions without a kernel, the front page, the ledger with filters."""
