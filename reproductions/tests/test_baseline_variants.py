"""Variants of baselines: each does the one thing otherwise that it is named after."""

import numpy as np
import pytest
import torch
from tests.baselines.tiny import Corridor, Track, demonstrations

from reproductions.baseline_variants import VARIANTS, BcAnyAction, BcTaskAtEnd, GailNoCloning, IrlBestAction
from rsg.baselines import rollout, train_baseline
from rsg.language import machine_of

SHAPE = {"inputs": 7, "actions": 2}


def small(kind, **changes):
    settings = kind.kind(**{"hidden": 4, **changes})
    return kind(settings, SHAPE, ["left", "right"], lambda _: Corridor(), ["left", "right"])


def test_an_action_without_effect_may_be_taken():
    given = torch.tensor([[1.0, 0.0]]).repeat(2, 1)
    states = np.array([[0], [3]])  # at the left end nothing is further left
    chosen = small(BcAnyAction).choose(Corridor(), states, given, np.random.default_rng(0))
    assert chosen.tolist() == [0, 0]


def test_a_state_is_read_without_the_task():
    network = small(BcTaskAtEnd).module
    tasks = network.tasks(["left", "right"])
    assert (network.read(torch.eye(7)[:2], tasks) == network.read(torch.eye(7)[:2], tasks.flip(0))).all()


def test_the_best_action_is_taken():
    q = torch.tensor([[0.0, 1.0]]).repeat(50, 1)
    assert (small(IrlBestAction).pick(q, np.random.default_rng(0)) == 1).all()


def test_moves_are_any_within_reach():
    source, demos = demonstrations(Track(), 4)
    kind = VARIANTS["irl-uniform-moves"]
    settings = kind.kind(steps=3, hidden=8, batch=4, held_out=4, check_every=3, curriculum=0)
    method = train_baseline(kind, demos, lambda demo: source.world(""), None, settings).method
    taken = rollout(method, source.world(""), np.full((5, 1), 2.0), machine_of(demos[0].task), 10).actions
    assert not np.isin(taken, np.concatenate([demo.actions for demo in demos])).all()
    assert (np.abs(taken) <= 1).all()


def test_without_cloning_the_demonstrations_are_for_the_judge_alone():
    method = small(GailNoCloning)
    _, demos = demonstrations(Corridor(), 2)
    shown = method.batch(demos)
    assert method.cloned(shown) == 0
    made, then = method.episodes(demos, method.module.copy, np.random.default_rng(0))
    figures = method.adversarial(shown, made, then)
    wanted = figures["judge"] + figures["policy"] + 0.5 * figures["value"] - 0.01 * figures["entropy"]
    assert float(figures["loss"].detach()) == pytest.approx(float(wanted.detach()))
