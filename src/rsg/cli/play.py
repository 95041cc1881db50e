"""`rsg play`: a person moves the agent in the terminal."""

from contextlib import closing, nullcontext
from pathlib import Path

from rsg.cli.command import Place, Said, command, option
from rsg.cli.options import Seed, WorldName
from rsg.cli.output import console
from rsg.core.errors import RsgError
from rsg.core.words import quantity
from rsg.demos.recording import Recording
from rsg.domain import find
from rsg.envs.game import Game
from rsg.envs.keyboard import play as play_with_keys


@command
def play(
    name: WorldName,
    place: Place,
    seed: Seed = 0,
    task: str | None = option(None, "What you are asked to do.", metavar="TASK"),
    record: Path | None = option(None, "Keep what you do as demonstrations, in a new store or in one to add to."),
    describe: str | None = option(None, "What they are called; by default the task.", metavar="TASK"),
) -> Said:
    """Move yourself: u undoes, r starts again, n somewhere else, q leaves; the other keys are shown below the world.

    Shows the world, which subgoals are true and, with --task, what comes next. In a pipe the keys are read from
    standard input and the last screen is printed. What you do until n or q can be kept; what u and r take back is not:
    [bold]rsg play {world} --task "{task}"[/bold]
    [bold]echo "dd " | rsg play {world} --task {goal}[/bold]
    [bold]rsg play {world} --record out/mine --describe {goal}[/bold]
    """
    domain = find(name).at(place)
    said = describe or task
    if record and not said:
        raise RsgError("say what you are going to do, so that it can be learned: --describe TASK")
    said = str(domain.read(said)) if said else ""
    colours = console().color_system is not None
    with closing(Recording(record, domain.name)) if record else nullcontext() as recording:
        if recording:
            recording.store.check_world(domain.name)
        had = len(recording.store) if recording else 0
        game = Game(domain, task, seed, recording, said)

        def drawn() -> str:
            with console().capture() as screen:
                console().print(game.screen(colours))
            return screen.get()

        play_with_keys(game, drawn)
    values, shown = game.summary(), [game.screen(colours)]
    if recording:
        values["recorded"] = len(recording.store) - had
        shown.append(f"\n{quantity(values['recorded'], 'demonstration')} kept; {len(recording.store)} in {record}")
    return Said(values, shown)
