"""GAIL's judge and PPO, each on a problem whose answer is known."""

import numpy as np
import pytest
import torch
from tests.baselines.tiny import Corridor, demonstrations

from rsg.baselines.gail import Gail, GailSettings, advantages, proximal, telling_apart
from rsg.core.errors import RsgError
from rsg.demos import Demonstration
from rsg.evaluation.planning import Starts
from rsg.evaluation.policies import evaluate_policy
from rsg.language import machine_of

SHAPE = {"inputs": 7, "actions": 2}
SMALL = {"hidden": 16, "layers": 1, "rate": 5e-3, "batch": 32}


def gail(kind=Gail, **changes):
    return kind(GailSettings(**{**SMALL, **changes}), SHAPE, ["left", "right"], lambda _: Corridor(), ["left", "right"])


def walks(chances, count):
    """Demonstrations of one action to the left or right, from cells with these chances."""
    cells = np.repeat(np.arange(7), np.round(chances * count).astype(int))
    actions = np.arange(len(cells)) % 2
    ends = Corridor().step(cells[:, None], actions)
    return [
        Demonstration(np.array([[cell], end]), np.array([action]), "left")
        for cell, end, action in zip(cells, ends, actions, strict=True)
    ]


def test_the_judge_finds_the_log_ratio_of_two_distributions():
    """Histories of two states: log-odds are those of the first cell, the rest is the same for both."""
    rng = np.random.default_rng(0)
    p, q = (rng.dirichlet(np.full(7, 4.0)) for _ in range(2))
    method = gail()
    shown, made = (method.batch(walks(one, 150)) for one in (p, q))
    optimizer = torch.optim.Adam(method.module.judge.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        telling_apart(method.judged(shown), method.judged(made)).backward()
        optimizer.step()
    with torch.inference_mode():
        odds = method.judged(shown).numpy()
    cells = shown.seen.argmax(dim=1).numpy()[::2]
    found = [odds[cells == cell].mean() for cell in range(7)]
    assert found == pytest.approx(np.log(p / q), abs=0.2)
    assert np.ptp(np.log(p / q)) > 1  # else there was nothing to find


def test_advantages_are_the_sums_that_they_stand_for():
    rng = np.random.default_rng(0)
    rewards, values = (torch.as_tensor(rng.normal(size=(3, 6))) for _ in range(2))
    lengths = np.array([6, 3, 1])
    moving = torch.as_tensor(np.arange(6) < lengths[:, None])
    found = advantages(rewards, values, moving, 0.9, 0.8)
    for row, length in enumerate(lengths):
        for t in range(length):
            wanted = 0.0
            for k in range(t, length):
                ahead = float(values[row, k + 1]) if k + 1 < length else 0.0
                wanted += (0.9 * 0.8) ** (k - t) * float(rewards[row, k] + 0.9 * ahead - values[row, k])
            assert float(found[row, t]) == pytest.approx(wanted)
    assert (found[~moving] == 0).all()


def test_at_first_the_gradient_of_ppo_is_the_policy_gradient():
    logits = torch.randn(50, 3, dtype=torch.float64, requires_grad=True)
    actions, gain = torch.randint(3, (50,)), torch.randn(50, dtype=torch.float64)
    now = logits.log_softmax(dim=1)[torch.arange(50), actions]
    (of_ppo,) = torch.autograd.grad(proximal(now, now.detach(), gain, 0.2), logits, retain_graph=True)
    (of_policy,) = torch.autograd.grad(-(now * gain).mean(), logits)
    assert torch.allclose(of_ppo, of_policy)


def test_ppo_does_not_go_on_where_a_probability_has_changed_enough():
    then = torch.log(torch.tensor([0.5, 0.5, 0.5, 0.5]))
    now = torch.log(torch.tensor([0.7, 0.7, 0.3, 0.3])).requires_grad_()
    proximal(now, then, torch.tensor([1.0, -1.0, 1.0, -1.0]), 0.2).backward()
    assert (now.grad != 0).tolist() == [False, True, True, False]


class Rewarded(Gail):
    """PPO alone, with a reward that is known: 1 for each state at the left end."""

    def rewards(self, made, odds):
        return (made.seen[made.place > 0].argmax(dim=1) == 0).float()

    def cloned(self, shown):
        return torch.zeros(())


def test_ppo_finds_the_best_return_of_a_small_world():
    """From cell c, with n steps, the best return is n - c + 1; half of the tasks ask for the other end in vain."""
    method = gail(Rewarded, cloning=0.0, steps=60, entropy=0.0)
    _, demos = demonstrations(Corridor(), 4)
    demos = [demo for demo in demos if " then " in demo.task]  # long enough to come to the end
    optimizer = torch.optim.Adam(method.module.parameters(), lr=0.02)
    rng = np.random.default_rng(0)
    for step in range(60):
        optimizer.zero_grad()
        method.gradients(demos, rng, step)
        optimizer.step()
    made, _ = method.episodes(demos, method.module.policy, rng)
    returns = made.per_demonstration((made.seen.argmax(dim=1) == 0).float() * (made.place > 0)).numpy()
    best = [len(demo) - demo.states[0, 0] + 1 for demo in demos]
    assert returns.sum() >= 0.97 * np.sum(best)


def test_episodes_are_as_long_as_demonstrations_and_begin_where_they_do():
    method = gail()
    _, demos = demonstrations(Corridor(), 3)
    made, logs = method.episodes(demos, method.module.copy, np.random.default_rng(0))
    shown = method.batch(demos)
    assert (made.place == shown.place).all()
    assert (made.seen[made.place == 0] == shown.seen[shown.place == 0]).all()
    cells = made.seen.argmax(dim=1).numpy()
    after = Corridor().step(cells[made.moving.numpy()][:, None], made.actions.numpy())[:, 0]
    assert (after == cells[(made.place > 0).numpy()]).all()
    with torch.inference_mode():
        figures = method.adversarial(shown, made, logs)
    assert torch.isfinite(figures["loss"])


def test_the_copy_is_renewed_now_and_then():
    method = gail(cloning=0.5, steps=8, epochs=2)
    _, demos = demonstrations(Corridor(), 2)
    optimizer = torch.optim.Adam(method.module.parameters(), lr=0.01)
    same = []
    for step in range(8):
        optimizer.zero_grad(set_to_none=True)
        before = [one.clone() for one in method.module.policy.parameters()]
        method.gradients(demos, np.random.default_rng(step), step)
        pairs = zip(method.module.copy.parameters(), before, strict=True)
        same.append(all(torch.equal(one, other) for one, other in pairs))
        optimizer.step()
    assert same[1:] == [False, False, False, True, False, True, False]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [({"cloning": 1.5}, "from 0 to 1"), ({"epochs": 0}, "at least 1"), ({"clip": 0.0}, "positive")],
)
def test_settings_that_make_no_sense(changes, problem):
    with pytest.raises(RsgError, match=problem):
        GailSettings(**changes)


def test_it_never_stops_by_itself():
    source, _ = demonstrations(Corridor(), 1)
    result = evaluate_policy(source, Starts("primitive", 2), gail(), max_steps=7)
    assert result["expansions_mean"] > 0
    _, stops, _ = gail().act(Corridor(), np.array([[3]]), gail().begin(Corridor(), np.array([[3]]), machine_of("left")))
    assert not stops.any()
