"""Facts and formulas once more, slow and plain."""


def crafting_facts(state):
    """The names of all facts that hold in a state of Crafting World that is given in names."""
    here = state.cells.get(state.agent, "").replace("-open", "").replace("-on", "")
    found = {f"held({item})" for item in state.inventory} | {f"at({state.agent[0]},{state.agent[1]})"}
    found |= {f"lies({plain(name)})" for name in state.cells.values()}
    found |= {f"here({here})"} if here else set()
    found |= {"open(door)"} if "door-open" in state.cells.values() else set()
    return found | ({"on(switch)"} if "switch-on" in state.cells.values() else set())


def plain(name):
    """The type that a thing shows as."""
    return {"door-open": "door", "switch-on": "switch"}.get(name, name)


def formula_holds(formula, facts):
    """Whether a formula holds where just these facts do."""
    value = False
    for number, (fact, holds, also) in enumerate(formula.literals):
        one = (fact in facts) == holds
        if number == 0:
            value = one
        elif also:
            value = value and one
        else:
            value = value or one
    return value
