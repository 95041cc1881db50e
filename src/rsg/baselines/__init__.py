"""What RSG is compared with: one readable file for each baseline."""

from rsg.baselines.bc import BcSettings as BcSettings, BehaviourCloning as BehaviourCloning
from rsg.baselines.bc_fsm import BcFsm as BcFsm, BcFsmSettings as BcFsmSettings
from rsg.baselines.common import Baseline as Baseline, BaselineSettings as BaselineSettings
from rsg.baselines.gail import Gail as Gail, GailSettings as GailSettings
from rsg.baselines.irl import Irl as Irl, IrlSettings as IrlSettings
from rsg.baselines.lstm import Lstm as Lstm, LstmSettings as LstmSettings
from rsg.baselines.policies import Policy as Policy, Rollout as Rollout, rollout as rollout
from rsg.baselines.runs import (
    METHODS as METHODS,
    Trained as Trained,
    baseline_of as baseline_of,
    load_baseline as load_baseline,
    method_named as method_named,
    policy_for as policy_for,
    preset as preset,
    settings_of_run as settings_of_run,
    train_baseline as train_baseline,
)
