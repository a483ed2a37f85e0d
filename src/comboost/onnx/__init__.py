"""Pipelines with our estimators as ONNX models, by way of skl2onnx. A model alone has ``to_onnx()``."""

from comboost.onnx._converters import register_converters

__all__ = ["register_converters"]
