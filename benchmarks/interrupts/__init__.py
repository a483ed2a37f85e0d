"""How long Ctrl-C takes to be answered."""
