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


def part_facts(parts, names=()):
    """Facts of one state that follow from its parts, each a list of things, a grid (a list of rows of cells) or numbers.

    names: of the columns and values, as a world's `columns`, with values in order.
    """
    found, names = set(), dict(names)

    def column(part, number):
        known = list(names.get(part, ()))
        return known[number] if number < len(known) else str(number)

    def said(part, number, value):
        known = list(names[part].values()) if isinstance(names.get(part), dict) else []
        values = known[number] if number < len(known) else None
        return values[value] if values else str(value)

    for part, shown in parts.items():
        if isinstance(shown[0], int):
            found |= {f"{part}[{column(part, n)}]={said(part, n, value)}" for n, value in enumerate(shown)}
            continue
        grid = isinstance(shown[0][0], list)
        for thing in [cell for row in shown for cell in row] if grid else shown:
            kind = f"some {part}={said(part, 0, thing[0])}"
            told = [f"&[{column(part, n)}]={said(part, n, value)}" for n, value in enumerate(thing) if n]
            found |= {kind, *(kind + one for one in told)}
            found |= {kind + one + other for n, one in enumerate(told) for other in told[n + 1 :]}
        for r, row in enumerate(shown if grid else ()):
            found |= {f"{part}({r},{c})={said(part, 0, cell[0])}" for c, cell in enumerate(row)}
        for other, numbers in parts.items() if grid else ():
            if isinstance(numbers[0], int):
                one, two = column(other, 0), column(other, 1)
                here = shown[numbers[0]][numbers[1]][0]
                found.add(f"{other}[{one},{two}] on {part}={said(part, 0, here)}")
    return found
