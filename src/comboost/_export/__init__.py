"""Models for other programs: as an ONNX graph, as a C file."""
