"""Whether a module of the stable ABI is as fast as one of a single version."""
