"""The directive ``commands``. In: the parser of the command line. Out: what ``--help`` says, a section per command."""

import inspect
from itertools import groupby
from typing import Any

import typer.main
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from comboost.cli.app import app as command_line

PROGRAM = "comboost"


def paragraphs(text: str) -> list[nodes.Element]:
    """Help as paragraphs; lines that are set in are commands to type."""
    found: list[nodes.Element] = []
    lines = [line for line in inspect.cleandoc(text).splitlines() if line.strip()]
    for typed, group in groupby(lines, key=lambda line: line.startswith(" ")):
        words = [line.strip() for line in group]
        if typed:
            found.append(nodes.literal_block("\n".join(words), "\n".join(words), language="sh"))
        else:
            found.append(nodes.paragraph("", " ".join(words).replace("`", "")))
    return found


def options(command: Any, context: Any) -> nodes.definition_list:
    """Arguments and options, each with its help."""
    items = nodes.definition_list()
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is None:
            continue
        names, help_text = record
        term = nodes.term("", "", nodes.literal("", names))
        items += nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", help_text)))
    return items


class Commands(SphinxDirective):
    """``.. commands::`` shows all commands."""

    def run(self) -> list[nodes.Node]:
        """A section for every command."""
        program = typer.main.get_command(command_line)
        context = program.context_class(program, info_name=PROGRAM)
        return [self._section(name, command, context) for name, command in program.commands.items()]

    def _section(self, name: str, command: Any, parent: Any) -> nodes.section:
        context = command.context_class(command, info_name=name, parent=parent)
        title = f"{PROGRAM} {name}"
        section = nodes.section("", nodes.title("", title), ids=[nodes.make_id(title)], names=[title])
        self.state.document.note_explicit_target(section)
        usage = " ".join([title, *command.collect_usage_pieces(context)])
        section += nodes.literal_block(usage, usage, language="sh")
        section += paragraphs(command.help or "")
        section += options(command, context)
        return section


def setup(app: Any) -> dict[str, bool]:
    """Register it."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
