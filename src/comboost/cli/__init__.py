"""The command line: ``comboost`` in a terminal, one module per command.

typer and rich come with the extra ``cli``. They are imported only when a command runs.
"""

from comboost.cli._interrupts import interrupts_looked_after

__all__ = ["main"]


def main() -> None:
    """Run the command line; what is typed after ``comboost`` decides what happens."""
    with interrupts_looked_after():
        try:
            import rich  # noqa: F401
            import typer  # noqa: F401
        except ImportError as error:
            raise SystemExit(
                f'The comboost command needs {error.name}, which is not installed. Run: pip install "comboost[cli]"'
            ) from error
        from comboost.cli._app import app

        app()
