"""What commands compute, without a terminal."""
