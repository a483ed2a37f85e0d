"""The parser. In: the words typed. Out: a call of the command's function. A new command is a module and a line here.

What takes time to be imported is named here, and imported when the command runs, so that help is there at once.
"""

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from comboost.cli._errors import DEBUG
from comboost.cli._interrupts import interruptible
from comboost.cli.compare import compare_estimators
from comboost.cli.cv import cv
from comboost.cli.datasets import datasets
from comboost.cli.demo import demo
from comboost.cli.fit import fit
from comboost.cli.predict import predict
from comboost.cli.report import report
from comboost.cli.reproduce import reproduce


class PlainHelp(TyperGroup):
    """Commands whose common help is plain text, which is there before rich is."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, options, and the first line of every command, whole."""
        for command in self.commands.values():
            command.short_help = (command.help or "").partition("\n")[0]
        super(TyperGroup, self).format_help(ctx, formatter)


app = typer.Typer(
    name="comboost",
    cls=PlainHelp,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(interruptible(demo, "comboost.cli._demo_view"))
app.command()(interruptible(fit, "pandas", "pyarrow", "comboost.cli._fitting"))
app.command()(interruptible(predict, "pandas", "pyarrow", "comboost.cli._answers"))
app.command()(interruptible(cv, "pandas", "pyarrow", "comboost.cli._folds"))
app.command("compare")(interruptible(compare_estimators, "pandas", "pyarrow", "comboost.cli._contest"))
app.command()(interruptible(report, "pandas", "pyarrow", "comboost.cli._reporting"))
app.command()(interruptible(datasets, "comboost.datasets"))
app.command()(interruptible(reproduce, "comboost.cli._reproduction"))


def show_version(wanted: bool) -> None:
    """Show the version and exit, if that is wanted."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"comboost {version('comboost')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def comboost(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Boosting for classes of very different sizes.

    Start with `comboost demo`, then with a file of your own:

      comboost cv wine.csv --target quality

      comboost compare wine.csv --target quality

      comboost fit wine.csv --target quality -o wine.comboost

      comboost predict wine.comboost new.csv -o predicted.csv

      comboost report wine.comboost new.csv -o report.html
    """
    if debug:
        os.environ[DEBUG] = "1"
    # The no_args_is_help of typer would end with an error code.
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
