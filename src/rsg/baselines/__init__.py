"""What RSG is compared with: one readable file for each baseline."""

from rsg.baselines.bc import BcSettings, BehaviourCloning
from rsg.baselines.bc_fsm import BcFsm, BcFsmSettings
from rsg.baselines.common import Baseline, BaselineSettings
from rsg.baselines.gail import Gail, GailSettings
from rsg.baselines.irl import Irl, IrlSettings
from rsg.baselines.lstm import Lstm, LstmSettings
from rsg.baselines.policies import Policy, Rollout, rollout
from rsg.baselines.runs import METHODS, Trained, load_baseline, method_named, preset, settings_of_run, train_baseline

__all__ = [
    "METHODS",
    "Baseline",
    "BaselineSettings",
    "BcFsm",
    "BcFsmSettings",
    "BcSettings",
    "BehaviourCloning",
    "Gail",
    "GailSettings",
    "Irl",
    "IrlSettings",
    "Lstm",
    "LstmSettings",
    "Policy",
    "Rollout",
    "Trained",
    "load_baseline",
    "method_named",
    "preset",
    "rollout",
    "settings_of_run",
    "train_baseline",
]
