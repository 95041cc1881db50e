"""How to act: plans for instructions, and an independent check of every plan."""

from rsg.planning.plan import Plan, plan, stitched_plan
from rsg.planning.validation import Verdict, validate

__all__ = ["Plan", "Verdict", "plan", "stitched_plan", "validate"]
