"""What --help says of each command."""

import pytest
from typer.main import get_command

from dashboard.cli.commands import app

COMMANDS = get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_in_a_sentence_what_it_does(name):
    parameters = [parameter for parameter in COMMANDS[name].params if parameter.name != "help"]
    assert [parameter.name for parameter in parameters if not (parameter.help or "").endswith(".")] == []


@pytest.mark.parametrize("name", ["evaluate", "compare", "stability", "gate"])
def test_options_that_commands_share_stand_in_panels_of_their_own(name):
    panels = {
        parameter.name: getattr(parameter, "rich_help_panel", None) for parameter in COMMANDS[name].params
    }
    assert panels["missing_score"] == "How files are read"
    assert panels["missing"] == "How lists are scored"
    assert panels["format"] == "What is written"
