"""Packages that only some answers need. In: what is asked for. Out: the package, or how to get it."""

from typing import Any

from numpy.typing import NDArray


def import_pandas(wanted: str = "A data frame", otherwise: str = "use the arrays") -> Any:
    """Import pandas, or say how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{wanted} needs pandas, which is not installed. Run `pip install pandas`, or {otherwise}."
        ) from error
    return pandas


def import_shap() -> Any:
    """Import shap, or say how to get it."""
    try:
        import shap
    except ImportError as error:
        raise ImportError(
            "An explainer for the plots of shap needs that package, which is not installed. Run `pip install shap`, or "
            "use explain(X), which needs nothing."
        ) from error
    return shap


def import_pyplot(otherwise: str) -> Any:
    """Import what draws, or say how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"A picture needs matplotlib, which is not installed. Run `pip install matplotlib`, or {otherwise}."
        ) from error
    return pyplot


def confusion_frame(confusion: NDArray[Any], classes: NDArray[Any]) -> Any:
    """A matrix by truth and prediction as a pandas DataFrame with the names of the classes."""
    pandas = import_pandas()
    truth, prediction = (pandas.Index(classes, name=name) for name in ("truth", "prediction"))
    return pandas.DataFrame(confusion, index=truth, columns=prediction)


def import_onnx() -> Any:
    """Import onnx, or say how to get it."""
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            "An ONNX model needs onnx, which is not installed. Run `pip install onnx`, or use save_model."
        ) from error
    return onnx


def import_skl2onnx() -> Any:
    """Import skl2onnx, or say how to get it."""
    try:
        import skl2onnx
    except ImportError as error:
        raise ImportError(
            "Converting pipelines needs skl2onnx, which is not installed. Run `pip install skl2onnx`, or convert the "
            "model alone, with its to_onnx()."
        ) from error
    return skl2onnx


def import_jinja2() -> Any:
    """Import what fills templates, or say how to get it."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "A page needs Jinja2, which is not installed. Run `pip install jinja2`, or take json() or markdown(), "
            "which need nothing."
        ) from error
    return jinja2
