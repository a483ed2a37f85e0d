"""The parser: the words typed in, the command's function called. A new command is one module and one line here."""

from importlib.metadata import version
from typing import Annotated

import typer

from comboost.cli.demo import demo
from comboost.cli.reproduce import reproduce

__all__ = ["app"]

app = typer.Typer(
    name="comboost",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(reproduce)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"comboost {version('comboost')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def comboost(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Boosting for classes of very different sizes."""
    # typer's own no_args_is_help would end with an error code
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
