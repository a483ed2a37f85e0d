"""For all commands: options, tables, progress, errors, interrupts."""
