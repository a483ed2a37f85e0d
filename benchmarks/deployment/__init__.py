"""How many rows per second models answer outside of comboost: in onnxruntime, and as a C file."""
