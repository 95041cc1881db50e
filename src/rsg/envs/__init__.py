"""The Gymnasium face: a world with a task as environments.

Importing this room registers ids, so that `gymnasium.make` knows them: those of all packages that tell of a function
that does so, by an entry point of the group `rsg.environments`.
"""

import warnings
from importlib.metadata import entry_points

from rsg.envs.recorder import Recorder as Recorder
from rsg.envs.tasks import TaskEnv as TaskEnv, TaskVectorEnv as TaskVectorEnv

for _one in entry_points(group="rsg.environments"):
    try:
        _one.load()()
    except Exception as error:
        warnings.warn(f"the environments of '{_one.name}' cannot be registered: {error}", stacklevel=2)
