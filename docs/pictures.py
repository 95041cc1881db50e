"""Draws every picture of the documentation: `make pictures`. Same code, same pictures.

The paper's figures are in the files beside this one, `pictures_of_planning.py` and `pictures_of_learning.py`.
"""

import re
import shlex
from contextlib import redirect_stdout, suppress
from functools import cache
from io import StringIO
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib import get_data_path
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont
from rich.console import Console

from rsg.cli.main import main
from rsg.core.arrays import Bytes
from rsg.core.random import stream
from rsg.demos import Store
from rsg.demos.showing import gif
from rsg.domain import find
from rsg.domains.crafting import STANDARD, CraftingWorld
from rsg.domains.crafting.maps import KINDS, sample_map
from rsg.domains.crafting.pictures import atlas
from rsg.domains.crafting.text import read_map
from rsg.domains.playroom import SHIPPED, PlayroomWorld, load_layout
from rsg.envs.game import Game
from rsg.language import Machine, parse
from rsg.language.drawing import draw
from rsg.planning import Plan, plan
from rsg.search import Product, SearchSettings
from rsg.subgoals import load

IMAGES = Path(__file__).parent / "images"


def machine() -> None:
    """The machine of one task."""
    text = "grab-key or (grab-axe then mine-wood then craft-boat) then grab-pickaxe and mine-coal"
    draw(Machine.of(parse(text)), IMAGES / "machine.svg")


def sprites() -> None:
    """All objects with their names and symbols."""
    tiles, names = atlas(STANDARD, 48)[0], STANDARD.names
    figure = Figure(figsize=(11, 7.6), facecolor="white")
    for code, axes in zip(range(1, len(names)), figure.subplots(5, 10).flat, strict=False):
        axes.imshow(tiles[code])
        axes.set_title(names[code], fontsize=7)
    for axes in figure.axes:
        axes.axis("off")
    _save(figure, "sprites.png")


def kinds() -> None:
    """One map of every kind."""
    figure = Figure(figsize=(11, 7.4), facecolor="white")
    for name, axes in zip(KINDS, figure.subplots(3, 5).flat, strict=False):
        world, state = sample_map(name, stream(1, "pictures", name))
        axes.imshow(world.render(state, 32))
        axes.set_title(name, fontsize=9)
    for axes in figure.axes:
        axes.axis("off")
    _save(figure, "kinds.png")


def play() -> None:
    """A person's screen in the middle of a task."""
    with TemporaryDirectory() as folder:
        valley = Path(folder) / "valley.txt"
        valley.write_text("map:\n@.a.~.\n....~G\n.T..~.\n....~p\n1..5~.\n....~.\n")
        task = "grab-axe then mine-wood then craft-wood-plank then craft-boat"
        game = Game(find("crafting").at(str(valley)), task)
    for key in "dd ssa ":
        game.press(key)
    console = Console(record=True, width=92, force_terminal=True, color_system="truecolor", file=StringIO())
    console.print(game.screen())
    svg = console.export_svg(title="rsg play crafting", unique_id="play")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # the page must not fetch fonts from elsewhere
    (IMAGES / "play.svg").write_text(svg)


def _stitched(world: CraftingWorld, state: Any, task: str, settings: SearchSettings) -> Plan:
    """The cheapest plan for each subgoal by itself, one after the other."""
    parts: list[Plan] = []
    for term in task.split(" then "):
        start = parts[-1].states[-1] if parts else state
        parts.append(plan(world, start, term, find("crafting").true_goals, settings))
    return Plan(
        task=parse(task),
        actions=np.concatenate([part.actions for part in parts]),
        states=np.concatenate([state[None], *(part.states[1:] for part in parts)]),
        terms=tuple(term for part in parts for term in part.terms),
        cost=sum(part.cost for part in parts),
        expansions=sum(part.expansions for part in parts),
    )


def interleaving() -> None:
    """The paper's interleaving figure: the whole-task plan beside the best stitching of separate plans."""
    world, state = read_map("inventory: axe, pickaxe\nmap:\n.T1...\n@....G\n.....5\n")
    task, oracle = "mine-gold-ore then craft-boat", find("crafting").true_goals
    settings = SearchSettings(Product("optimal"), budget=None)
    whole = plan(world, state, task, oracle, settings)
    stitched = _stitched(world, state, task, settings)
    figure = Figure(figsize=(9, 3.1), facecolor="white")
    for axes, made, name in zip(figure.subplots(1, 2), (whole, stitched), ("whole task", "stitched"), strict=True):
        cell = 48
        axes.imshow(world.render(state, cell)[: world.height * cell])
        colours = {"mine-gold-ore": "#d48806", "craft-boat": "#1d4ed8"}
        places = made.states[:, 1::-1].astype(float) * cell + cell / 2
        for i, term in enumerate(made.terms):
            shift = 6 if term == "craft-boat" else -6
            axes.plot(*(places[i : i + 2].T + shift), color=colours[term], lw=3, solid_capstyle="round")
            if (made.states[i, :2] == made.states[i + 1, :2]).all():
                axes.plot(*(places[i] + shift), "o", color=colours[term], ms=7)
        axes.set_title(f"{name}: {len(made.actions)} steps, cost {made.cost:.1f}", fontsize=10)
        axes.axis("off")
    figure.suptitle(f"{task} (yellow, then blue; dots: toggle)", fontsize=10)
    _save(figure, "interleaving.png")


def layouts() -> None:
    """The rooms of Playroom that come with rsg."""
    figure = Figure(figsize=(8, 8.2), facecolor="white")
    for name, axes in zip(SHIPPED, figure.subplots(2, 2).flat, strict=True):
        world = PlayroomWorld(load_layout(name))
        axes.imshow(world.render(world.start(stream(2, "pictures", name)), 400))
        axes.set_title(name, fontsize=10)
        axes.axis("off")
    _save(figure, "playroom-layouts.png")


def playroom() -> None:
    """A room, its roadmap, plans of both planners, and one of them moving."""
    task = "turn-on-music and play-with-ball and turn-on-light then ring-bell"
    _rsg("world playroom --seed 3 --png playroom.png --roadmap playroom-roadmap.png")
    _rsg(f"plan playroom '{task}' --seed 3 --png playroom-plan.png --gif playroom.gif")
    _rsg("plan playroom 'ring-bell then touch-monkey' --layout narrow --seed 2 --planner rrt --png playroom-tree.png")


def learning() -> None:
    """What a small run learns in Playroom, and a demonstration as it understands it."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        _rsg(f"train playroom --out {run} --per-task 40")
        _rsg(f"world playroom --seed 3 --subgoals {run} --heat playroom-heat.png")
        episode, told = 559, Path(folder) / "told.txt"  # the last one, with its own description
        told.write_text(Store(f"{run}-demos")[episode].task)
        words = f"--episode {episode} --candidates {told} --png playroom-steps.png"
        _rsg(f"recognise {run} --demos {run}-demos {words}")


def segments() -> None:
    """A recording of somebody who is sometimes mistaken, cut into its subtasks."""
    task = "grab-axe then mine-wood then craft-wood-plank then craft-boat"
    with TemporaryDirectory() as folder:
        _rsg(f"train crafting --per-task 1 --out {folder}/run")
        _rsg(f'demos make crafting --task "{task}" --per-task 1 --noise 0.15 --seed 2 --out {folder}/shown')
        _rsg(f"segment {folder}/run --demos {folder}/shown --out {folder}/cut.jsonl --pictures {folder}/drawn")
        copyfile(f"{folder}/drawn/episode-00000.png", IMAGES / "segments.png")


def following() -> None:
    """The first picture of all: a goal, the subgoals on the way with what each was found to mean, the plan moving."""
    crafting, goal = find("crafting"), "craft-bed"
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        _rsg(f"train crafting --per-task 1 --out {run}")
        subgoals = load(run)
        world, state = crafting.start([goal], stream(0, "world"), True)
        made = subgoals.plan_goal(world, state, goal)
    means = {told.term: told.means.partition(" holds where ")[2] for told in subgoals.tell(world)}
    frames = [_followed(world, made, means, goal, number) for number in range(len(made.states))]
    ends = {end for _, _, end in made.parts}
    times = [900 if number in ends else 170 for number in range(len(frames) - 1)]
    (IMAGES / "following.gif").write_bytes(gif(frames, [1500, *times[1:], 4000]))


def _followed(world: CraftingWorld, made: Plan, means: dict[str, str], goal: str, number: int) -> Bytes:
    """The world after so many steps, and beside it the subgoals: done, being done, or still to come."""
    seen = Image.fromarray(world.render(made.states[number], 42))
    left, top, line = seen.width + 22, 8, 29
    picture = Image.new("RGB", (left + 432, top + line * (len(made.parts) + 2) + 10), "white")
    picture.paste(seen, (0, (picture.height - seen.height) // 2))
    pen, done = ImageDraw.Draw(picture), number == len(made.actions)
    told = "done" if done else f"step {number + 1} of {len(made.actions)}"
    pen.text((left, top), f"asked for: {goal}", "#111111", _font(21, bold=True))
    pen.text((picture.width - 12, top + 4), told, "#2f855a" if done else "#666666", _font(16), anchor="ra")
    pen.text((left, top + line + 4), "steps on the way, and what each word means:", "#666666", _font(16))
    for row, (term, start, end) in enumerate(made.parts):
        mark, colour = ("✓", "#2f855a") if number >= end else ("▸", "#1d4ed8") if number >= start else ("·", "#8a929e")
        y = top + line * (row + 2) + 6
        pen.text((left, y), mark, colour, _font(18))
        pen.text((left + 20, y), term, colour, _font(18, bold=start <= number < end))
        pen.text((left + 222, y), means[term], colour, _font(18))
    return np.asarray(picture)


@cache
def _font(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """The font that matplotlib brings."""
    return ImageFont.truetype(
        Path(get_data_path()) / "fonts" / "ttf" / f"DejaVuSans{'-Bold' if bold else ''}.ttf", size
    )


def _rsg(command: str) -> None:
    """Run a command; the pictures that it writes are images of the documentation."""
    words = [str(IMAGES / word) if word.endswith((".png", ".gif")) else word for word in shlex.split(command)]
    with redirect_stdout(StringIO()), suppress(SystemExit):
        main(words)


def _save(figure: Figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(IMAGES / name, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    from pictures_of_learning import training, values_crafting, values_playroom
    from pictures_of_planning import constructions, running

    IMAGES.mkdir(exist_ok=True)
    ours = (following, segments, machine, sprites, kinds, play, interleaving, layouts, playroom, learning)
    for picture in (*ours, constructions, running, training, values_crafting, values_playroom):
        picture()
        print(f"drew {picture.__name__}")
