"""How long the command line takes: for its help, beside its fits, and for a comparison."""
