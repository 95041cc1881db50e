"""What is learned: classifiers that tell when a subgoal holds."""

from rsg.subgoals.networks import SetClassifiers, untrained

__all__ = ["SetClassifiers", "untrained"]
