"""Codes and sums: bins, formulas, flat trees, votes, and rows that answer questions."""
