"""What was shown: demonstrations, and the store that never loses one."""

from rsg.demos.checking import check_store as check_store
from rsg.demos.demonstration import Demonstration as Demonstration, Demonstrator as Demonstrator
from rsg.demos.demonstration import Trajectory as Trajectory, actions_of as actions_of
from rsg.demos.finding import with_actions as with_actions
from rsg.demos.expert import demonstrate as demonstrate
from rsg.demos.making import Recipe as Recipe
from rsg.demos.store import Store as Store, repair as repair
