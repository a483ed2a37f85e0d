"""The classifiers: parameters, fit, predict, decisions and calibration."""
