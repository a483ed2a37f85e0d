"""Input validation: tables, categories, dates, labels, sample weights and cost matrices."""
