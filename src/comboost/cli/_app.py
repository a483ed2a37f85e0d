"""The parser. In: the words typed. Out: a call of the command's function. A new command is a module and a line here."""

from importlib.metadata import version
from typing import Annotated

import typer

from comboost.cli._interrupts import interruptible
from comboost.cli.demo import demo
from comboost.cli.reproduce import reproduce

app = typer.Typer(
    name="comboost",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(interruptible(demo))
app.command()(interruptible(reproduce))


def show_version(wanted: bool) -> None:
    """Show the version and exit, if that is wanted."""
    if wanted:
        typer.echo(f"comboost {version('comboost')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def comboost(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Boosting for classes of very different sizes."""
    # The no_args_is_help of typer would end with an error code.
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
