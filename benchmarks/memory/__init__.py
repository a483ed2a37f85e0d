"""Memory that is planned, beside the peak that is measured."""
