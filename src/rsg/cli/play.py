"""`rsg play`: a person moves the agent in the terminal."""

from rsg.cli.command import Place, Said, command, option
from rsg.cli.options import Seed, WorldName
from rsg.cli.output import console
from rsg.domain import find
from rsg.envs.game import Game
from rsg.envs.keyboard import play as play_with_keys


@command
def play(
    name: WorldName,
    place: Place,
    seed: Seed = 0,
    task: str | None = option(None, "What you are asked to do.", metavar="TASK"),
) -> Said:
    """Move yourself: u undoes, r starts again, n somewhere else, q leaves; the other keys are shown below the world.

    Shows the world, which subgoals are true and, with --task, what comes next. In a pipe the keys are read from
    standard input and the last screen is printed:
    [bold]rsg play {world} --task "{task}"[/bold]
    [bold]echo "dd " | rsg play {world} --task {goal}[/bold]
    """
    game = Game(find(name).at(place), task, seed)
    colours = console().color_system is not None

    def drawn() -> str:
        with console().capture() as screen:
            console().print(game.screen(colours))
        return screen.get()

    play_with_keys(game, drawn)
    return Said(game.summary(), [game.screen(colours)])
