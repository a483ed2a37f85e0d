"""The boosting loop, weak learners, early stopping, warm starts and monitoring."""
