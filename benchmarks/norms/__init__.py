"""The study of norms and losses."""
