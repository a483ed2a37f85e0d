"""What commands share: options, tables, progress, errors, interrupts."""
