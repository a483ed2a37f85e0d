"""Commands: one module each, with its options and what it prints."""
