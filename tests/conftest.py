"""Hypothesis for every test: without deadlines, since machines differ, and with a fixed seed, so that red stays red."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "comboost", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("comboost")
