"""The parser of the command line. A new command is a module in `commands` and a line here.

Modules that are slow to import are only named here; they are imported when the command runs, so that help is fast.
"""

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from comboost.cli.commands.compare import compare_classifiers
from comboost.cli.commands.cv import cv
from comboost.cli.commands.datasets import datasets
from comboost.cli.commands.demo import demo
from comboost.cli.commands.fit import fit
from comboost.cli.commands.predict import predict
from comboost.cli.commands.report import report
from comboost.cli.commands.reproduce import reproduce
from comboost.cli.terminal.errors import DEBUG, interruptible

TABLES = ("pandas", "pyarrow")


class PlainHelp(TyperGroup):
    """Commands whose common help is plain text, which does not need to import rich."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, options, and the whole first line of every command."""
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
app.command()(interruptible(demo, "comboost.cli.jobs.demo"))
app.command()(interruptible(fit, *TABLES, "comboost.cli.jobs.fit"))
app.command()(interruptible(predict, *TABLES, "comboost.cli.jobs.predict"))
app.command()(interruptible(cv, *TABLES, "comboost.cli.jobs.cross_validation"))
app.command("compare")(interruptible(compare_classifiers, *TABLES, "comboost.cli.jobs.comparison"))
app.command()(interruptible(report, *TABLES, "comboost.cli.jobs.report"))
app.command()(interruptible(datasets, "comboost.datasets"))
app.command()(interruptible(reproduce, "comboost.cli.jobs.reproduction"))


def show_version(wanted: bool) -> None:
    """Print the version and exit, if wanted."""
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
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Boosting for imbalanced multi-class data.

    Start with `comboost demo`, then with a file of your own:

      comboost cv wine.csv --target quality

      comboost compare wine.csv --target quality

      comboost fit wine.csv --target quality -o wine.comboost

      comboost predict wine.comboost new.csv -o predicted.csv

      comboost report wine.comboost new.csv -o report.html
    """
    if debug:
        os.environ[DEBUG] = "1"
    # typer's no_args_is_help would exit with an error code.
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
