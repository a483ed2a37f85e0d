"""Imports of optional dependencies, with errors that say how to install them."""

from importlib import import_module
from typing import Any

from numpy.typing import NDArray


def import_extra(module: str, wanted: str, otherwise: str) -> Any:
    """Import a module that is not a dependency of comboost.

    Parameters
    ----------
    module : str
        The module.
    wanted, otherwise : str
        What needs it, and what to do without it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{wanted} needs {package}, which is not installed. Run `pip install {package}`, or {otherwise}."
        ) from error


def import_pandas(wanted: str = "A data frame", otherwise: str = "use the arrays") -> Any:
    """Import pandas."""
    return import_extra("pandas", wanted, otherwise)


def import_shap() -> Any:
    """Import shap."""
    return import_extra("shap", "An explainer for the plots of shap", "use explain(X), which does not need it")


def import_pyplot(otherwise: str) -> Any:
    """Import matplotlib.pyplot."""
    return import_extra("matplotlib.pyplot", "A plot", otherwise)


def import_onnx() -> Any:
    """Import onnx."""
    onnx = import_extra("onnx", "An ONNX model", "use save_model")
    import_module("onnx.numpy_helper")
    return onnx


def import_skl2onnx() -> Any:
    """Import skl2onnx."""
    return import_extra("skl2onnx", "The conversion of a pipeline", "convert the model alone, with its to_onnx()")


def import_jinja2() -> Any:
    """Import jinja2."""
    return import_extra("jinja2", "A page", "use json() or markdown(), which do not need it")


def confusion_frame(confusion: NDArray[Any], classes: NDArray[Any]) -> Any:
    """Return a matrix of true and predicted classes as a pandas DataFrame."""
    pandas = import_pandas()
    truth, prediction = (pandas.Index(classes, name=name) for name in ("truth", "prediction"))
    return pandas.DataFrame(confusion, index=truth, columns=prediction)
