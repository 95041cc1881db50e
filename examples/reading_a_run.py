"""Reading a run: what was learned, how sure that is, what needs what, and how training went."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rsg
from rsg.demos import Recipe
from rsg.domain import find, make_demonstrations

with TemporaryDirectory() as folder:
    shown = make_demonstrations(Recipe("crafting", "train", per_task=1), Path(folder) / "shown")
    rsg.learn(shown, "crafting", out=Path(folder) / "run")  # as `rsg train crafting --per-task 1 --out ...`

    subgoals = rsg.load(Path(folder) / "run")  # a folder that `rsg train` made is read in the same way
    crafting = find("crafting")
    world, start = crafting.start(["craft-bed"], np.random.default_rng(0), goal=True)

    print(f"{len(subgoals.terms)} terms, read with the encoder '{subgoals.settings.encoder}'; {subgoals.progress.done}")
    for told in subgoals.tell(world):
        if told.open:
            print(f"{told.means}, {told.sure:.0%} sure; {told.open[0]}. To settle it, show {told.settle[0]}")

    switch = subgoals.readings["toggle-switch"]  # the same as data: formulas, and how likely each is
    print({str(formula): round(share, 2) for formula, share in switch.formulas if share > 0.01})

    known = subgoals.dependencies
    for way in known.prerequisites[known.number("craft-shears")]:
        print("craft-shears needs", " and ".join(known.terms[term] for term in way))

    made = subgoals.plan_goal(world, start, "craft-bed")
    for term, begin, end in made.parts:
        print(f"steps {begin + 1:2} to {end:2}  {term}")
    truth = rsg.validate(world, made, "craft-bed", lambda states, terms: crafting.truth(world, states, terms))
    print("the plan is right" if truth.ok else f"the plan is wrong: {truth.reason}")
