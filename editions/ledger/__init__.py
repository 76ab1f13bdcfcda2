"""The ledger as a page of the site: a table of all claims that can be filtered, each with a link to what decides it."""
