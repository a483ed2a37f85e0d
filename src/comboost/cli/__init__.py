"""The command line, ``comboost`` in a terminal.

typer and rich come with the extra ``cli``. They are imported only when a command runs.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of the process."""
    try:  # nothing is imported before, not even the standard library
        from comboost.cli.terminal.interrupts import quit_on_interrupt
    except (KeyboardInterrupt, RuntimeError):  # Python 3.11 turns interrupts of class definitions into RuntimeErrors
        import os

        os.write(2, b"Interrupted.\n")
        os._exit(130)
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
