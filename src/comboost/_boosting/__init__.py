"""The loop of the paper, its weak learners, one fit, and who looks on."""
