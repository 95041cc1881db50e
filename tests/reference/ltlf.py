"""An LTLf formula, evaluated at each step of a trace as its definition says: an oracle for tasks."""

from functools import cache

from rsg.core.errors import TaskError
from rsg.language import Formula, Term
from rsg.language.semantics import read_trace


def evaluate(formula, trace, task):
    """Whether the formula (made from `task`) holds at the first step of the trace `[steps, terms]`."""
    true, column = read_trace(trace, task, None)

    @cache
    def holds(formula, step):
        match formula:
            case Formula("term", term=Term() as term):
                return bool(true[step, column[term]])
            case Formula("last"):
                return step == len(true) - 1
            case Formula("not", (part,)):
                return not holds(part, step)
            case Formula("and", parts):
                return all(holds(part, step) for part in parts)
            case Formula("or", parts):
                return any(holds(part, step) for part in parts)
            case Formula("finally", (part,)):
                return any(holds(part, later) for later in range(step, len(true)))
        raise TaskError(f"not an LTLf formula: {formula.kind}")

    return len(true) > 0 and holds(formula, 0)
