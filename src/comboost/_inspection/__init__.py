"""Inspection of fitted models: SHAP values, trees as text, frames and plots."""
