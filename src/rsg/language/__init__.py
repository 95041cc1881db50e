"""What is asked: text → syntax tree → machine. `satisfies` is the slow oracle, LTLf a second one."""

from rsg.language.ltlf import Formula as Formula, to_ltlf as to_ltlf
from rsg.language.machine import Machine as Machine, Nodes as Nodes, machine_of as machine_of
from rsg.language.semantics import satisfies as satisfies
from rsg.language.syntax import parse as parse
from rsg.language.tree import And as And, Or as Or, Task as Task, Term as Term, Then as Then
