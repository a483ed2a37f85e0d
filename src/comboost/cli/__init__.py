"""The command line, ``comboost`` in a terminal.

typer and rich come with the extra ``cli``. They are imported only when a command runs.
"""

from comboost.cli.terminal.errors import quit_on_interrupt

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of the process."""
    with quit_on_interrupt():
        try:
            import rich  # noqa: F401
            import typer  # noqa: F401
        except ImportError as error:
            raise SystemExit(
                f'The comboost command needs {error.name}, which is not installed. Run: pip install "comboost[cli]"'
            ) from error
        from comboost.cli.app import app

        app()
