"""Writes the reference of the shell command: command_reference.py PAGES

Reads the parsers of the command, so that options, defaults and examples are those that `--help` shows. Needs the installed
library, from which the defaults are.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from texts import escaped, write

from purlin.cli import parser
from purlin.cli.options import Parser

# The part of an option's help that says its default, or when it is needed.
DEFAULT = re.compile(r" \((?:default: ((?:[^()]|\([^()]*\))*)|(needed [^()]*))\)")
EXAMPLE = "example:\n"
COMMON = "machine and messages"
# Titles of argparse's own groups, under which no heading is needed.
UNTITLED = ("positional arguments", "options", "optional arguments")


def name(action: argparse.Action) -> str:
    """An option with its values, or an argument, as the usage line has it."""
    # Words to choose from are in the column of meanings.
    is_bare = action.nargs == 0 or (action.choices is not None and action.option_strings)
    values = action.metavar or ("" if is_bare else action.dest.upper())
    shown = " ".join(values) if isinstance(values, tuple) else values
    if action.nargs in ("+", "*") and not isinstance(values, tuple):
        shown += " ..."
    elif isinstance(action.nargs, int) and action.nargs > 1 and not isinstance(values, tuple):
        shown = " ".join([shown] * action.nargs)
    return ", ".join(f"`{' '.join(filter(None, (option, shown)))}`" for option in action.option_strings or [""])


def cells(command: str, action: argparse.Action) -> str:
    """A row of the table."""
    text = (action.help or "") % {"prog": f"purlin {command}", "default": action.default}
    words = f": {' or '.join(f'`{word}`' for word in action.choices)}" if action.choices is not None else ""
    if action.required:
        return f"| {name(action)} | needed | {escaped(text)}{words} |"
    found = DEFAULT.search(text)
    if found is None:
        sys.exit(f"error: purlin {command}: {name(action)}: its help is {text!r}, which names no default")
    return f"| {name(action)} | {escaped(found[1] or found[2])} | {escaped(DEFAULT.sub('', text, count=1))}{words} |"


def section(command: str, short: str, made: Parser) -> list[str]:
    """The part of the page about a command."""
    said, _, example = (made.epilog or "").partition(EXAMPLE)
    if said or not example:
        sys.exit(f"error: purlin {command}: its help ends with {made.epilog!r}, an example is needed")
    lines = ["", f"## purlin {command}", "", escaped(made.description or short)]
    lines += ["", "```sh", *(line[2:] for line in example.splitlines()), "```"]
    # The options that all commands have come last.
    for group in sorted(made._action_groups, key=lambda group: group.title == COMMON):
        actions = [action for action in group._group_actions if not isinstance(action, argparse._HelpAction)]
        if actions:
            head = "argument" if not actions[0].option_strings else "option"
            lines += [""] if group.title in UNTITLED else ["", f"### {str(group.title).capitalize()}", ""]
            lines += [f"| {head} | default | meaning |", "| --- | --- | --- |", *(cells(command, action) for action in actions)]
    return lines


def main() -> None:
    pages = Path(sys.argv[1])
    made = parser()
    commands = next(action for action in made._actions if isinstance(action, argparse._SubParsersAction))
    shorts = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    text = ["# Shell", "", "The options of each command, as `purlin COMMAND --help` shows them, and an example that runs as printed."]
    text += ["[Files, exit codes and rules of all commands](../command.md)."]
    for command, own in commands.choices.items():
        text += section(command, shorts[command], own)
    write(pages, "command", text)


if __name__ == "__main__":
    main()
