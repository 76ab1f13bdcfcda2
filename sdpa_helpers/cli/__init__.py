"""The command line `sdpa`: it parses, calls and prints."""
