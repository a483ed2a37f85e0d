"""What was given: containers, categories, tables of floats, labels, weights, cost matrices."""
