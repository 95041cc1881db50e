"""What is asked: text → syntax tree → machine. `satisfies` is the slow oracle, LTLf a second one."""

from rsg.language.ltlf import Formula, to_ltlf
from rsg.language.machine import Machine, Nodes, machine_of
from rsg.language.sampling import sample_task
from rsg.language.semantics import satisfies
from rsg.language.syntax import parse
from rsg.language.tree import And, Or, Task, Term, Then

__all__ = [
    "And",
    "Formula",
    "Machine",
    "Nodes",
    "Or",
    "Task",
    "Term",
    "Then",
    "machine_of",
    "parse",
    "sample_task",
    "satisfies",
    "to_ltlf",
]
