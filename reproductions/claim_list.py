"""What the paper says that can be tested here, claim by claim, and what each is judged by."""

from collections.abc import Mapping, Sequence

from reproductions.claim_parts import (
    Claim,
    Part,
    Parts,
    agrees,
    alike,
    between,
    both,
    count,
    figure,
    given,
    larger,
    level,
    more,
    never,
    no_worse,
    nodes,
    ranked,
    seconds,
    widening,
)
from reproductions.goal_claims import claims_about
from reproductions.goal_only import BLIND, MAIN, OURS, PAPER, PRINTED
from reproductions.goal_trials import ALL, HARD, PAPER_POINTS
from reproductions.harness.printed import PAPER as RATES
from reproductions.harness.printed import PAPER_TIMES, WORLDS
from reproductions.harness.trials import SPLITS
from reproductions.harness.verdicts import POINTS, some
from reproductions.instructions import MAIN as ONE
from reproductions.playroom import MAIN as ROBOT
from rsg.evaluation.report import LABELS, PICTURES

Claims = Mapping[str, Claim]

NAMES = {"crafting": "Crafting World", "playroom": "Playroom"}
DEEPEST = "`deepest`, hard (G ≥ 1/2), no heuristic"
ROADMAP = "on a roadmap, at most a fifth above the least cost, hard, where G is surest, no heuristic"
HOW = {"crafting": DEEPEST, "playroom": ROADMAP}
SINGLE = f"instructions/success/{ONE}"
WALKING = {"crafting": ("irl", "gail", "bc", "bc-fsm"), "playroom": ("irl", "bc", "bc-fsm")}  # in the paper's table
LOW, NONE_AT_ALL = 0.4, 0.05  # "below 40 %"; "almost zero"


def pair(world: str, method: str) -> str:
    """The paper's figures, as it prints them."""
    return " / ".join(f"{one:.1f}" for one in RATES[world][method])


def printed(world: str, method: str) -> list[float]:
    """The same as rates, a number to each split."""
    return [one / 100 for one in RATES[world][method]]


def strict(world: str, method: str) -> str:
    """Where the success of a method stands that is compared with RSG from the same starts."""
    return f"baselines/success/{world}/{method}/SPLIT/strict"


def over(world: str, methods: Sequence[str]) -> Parts:
    """RSG above each baseline, from the same starts."""
    return {LABELS[one]: both(more, strict(world, "rsg"), strict(world, one)) for one in methods}


def figures_of_table() -> Claims:
    """The main table: RSG, then what it is compared with."""
    pictures = "image/success/as in training/SPLIT"
    found: dict[str, Claim] = {
        "rsg-crafting": Claim(
            f"RSG, Crafting World: {pair('crafting', 'rsg')}",
            f"networks, one classifier per term; {DEEPEST}",
            {"": both(figure, f"{SINGLE}/SPLIT", printed=printed("crafting", "rsg"))},
        ),
        "rsg-formulas": Claim(
            f"… and by formulas, which are told more: the named facts of a state ({pair('crafting', 'rsg')})",
            f"formulas over facts, which the paper does not have; {DEEPEST}",
            {"": both(figure, "searches/formulas/deepest/hard/SPLIT/success", printed=printed("crafting", "rsg"))},
            beyond=True,
        ),
        "rsg-playroom": Claim(
            f"RSG, Playroom: {pair('playroom', 'rsg')}",
            f"robot-frame network; {ROADMAP}",
            {"": both(figure, f"playroom/success/{ROBOT}/SPLIT", printed=printed("playroom", "rsg"))},
        ),
        "rsg-playroom-soft": Claim(
            f"… and with the paper's cost of transitions: {pair('playroom', 'rsg')}",
            "robot-frame network; on a roadmap, soft, no heuristic",
            {"": both(figure, "playroom/success/soft-400/SPLIT", printed=printed("playroom", "rsg"))},
        ),
        "rsg-playroom-trees": Claim(
            f"… and by random trees (RRT), the paper's planner: {pair('playroom', 'rsg')}",
            "robot-frame network; random trees alone, hard, where G is surest, no heuristic",
            {"": both(figure, "playroom/success/trees-400/SPLIT", printed=printed("playroom", "rsg"))},
        ),
        "rsg-pictures": Claim(
            f"RSG, from pictures: {pair('playroom', 'rsg')}, the very figures of Playroom",
            f"looks of tiles; {DEEPEST}",
            {"": both(figure, pictures, printed=printed("playroom", "rsg"))},
        ),
    }
    for world in WORLDS:
        for method in WALKING[world]:
            found[f"{method}-{world}"] = Claim(
                f"{LABELS[method]}, {NAMES[world]}: {pair(world, method)}",
                "ours is built otherwise, see Baselines",
                {"": both(level, strict(world, method), printed=printed(world, method))},
            )
    found[f"{PICTURES}-crafting"] = Claim(
        f"{LABELS[PICTURES]}: {pair('crafting', PICTURES)}, the very figures of Playroom",
        "a convolution over the picture",
        {"": both(level, strict("crafting", PICTURES), printed=printed("crafting", PICTURES))},
    )
    return found


def comparisons() -> Claims:
    """What the text says of the table."""
    found: dict[str, Claim] = {}
    for world in WORLDS:
        how = f"RSG minus each, in points, same demonstrations and starts; RSG: {HOW[world]}"
        found[f"outperforms-{world}"] = Claim(
            f"{NAMES[world]}: RSG outperforms all baselines", how, over(world, WALKING[world])
        )
        found[f"larger-margin-{world}"] = Claim(
            f"{NAMES[world]}: by a larger margin on novel tasks than on compositional ones",
            "RSG minus each, novel minus compositional, in points",
            {LABELS[one]: [widening(strict(world, "rsg"), strict(world, one))] for one in WALKING[world]},
        )
    found["outperforms-pictures"] = Claim(
        "from pictures: RSG outperforms the best baseline, BC-FSM",
        f"RSG minus BC-FSM, in points, same demonstrations and starts; RSG: {DEEPEST}",
        {"": both(more, "image/success/as in training/SPLIT", strict("crafting", PICTURES))},
    )
    compositional, novel = SPLITS
    limits = {compositional: LOW, novel: NONE_AT_ALL}
    for key, says, split in (
        ("below-40", "Crafting World, compositional: all baselines below 40 %", compositional),
        (
            "almost-zero",
            f"Crafting World, novel: all baselines almost zero (here: below {100 * NONE_AT_ALL:.0f} %)",
            novel,
        ),
    ):
        parts = {
            LABELS[one]: [between(strict("crafting", one).replace("SPLIT", split), 0.0, limits[split])]
            for one in WALKING["crafting"]
        }
        found[key] = Claim(says, "success in percent", parts)
    found["gail-better"] = Claim(
        "Crafting World: GAIL does better than BC and BC-FSM",
        "GAIL minus each, in points",
        {LABELS[one]: both(more, strict("crafting", "gail"), strict("crafting", one)) for one in ("bc", "bc-fsm")},
    )
    found["gail-gap"] = Claim(
        "Crafting World: there is a large gap between GAIL and RSG",
        f"RSG minus GAIL, in points; RSG: {DEEPEST}",
        over("crafting", ("gail",)),
    )
    for world, (better, worse) in {"crafting": ("bc", "bc-fsm"), "playroom": ("bc-fsm", "bc")}.items():
        found[f"policies-{world}"] = Claim(
            f"{NAMES[world]}: {LABELS[better]} does better than {LABELS[worse]} (table)",
            "the one minus the other, in points",
            {"": both(more, strict(world, better), strict(world, worse))},
        )
    found["generalises"] = Claim(
        "strong compositional generalisation to novel tasks",
        f"novel tasks that training has not seen minus compositional ones, in points; {DEEPEST}",
        {"": [no_worse(f"{SINGLE}/novel, not trained on", f"{SINGLE}/compositional")]},
    )
    found["sample-efficient"] = Claim(
        "learning goals is more sample-efficient than learning policies (Playroom)",
        "RSG with 5 or 20 demonstrations of each task minus BC-FSM, the best baseline, with 400",
        {f"{few}:": both(more, f"playroom/fewer/{few}/SPLIT", strict("playroom", "bc-fsm")) for few in (5, 20)},
    )
    return found


def searches() -> Claims:
    """What the paper says of its search."""
    networks, values = "searches/networks", "searches/values/{}/{}/compositional/{}"
    formulas = "searches/formulas/{}/hard/compositional/cost"

    def success(way: str, kind: str) -> str:
        return f"{networks}/{way}/{kind}/SPLIT/success"

    every = f"goal-only/goals/{{}}/{ALL}"
    return {
        "layers": Claim(
            f"FSM-A* as in the appendix: {pair('crafting', 'rsg')}",
            "networks; the paper's layers, soft as printed, no heuristic, 5,000 expansions in total",
            {"": both(figure, success("layers", "soft"), printed=printed("crafting", "rsg"))},
        ),
        "layers-each": Claim(
            "… with 5,000 at each node, as the appendix says",
            "the same, 5,000 at each node",
            {"": both(figure, success("layers-each", "soft"), printed=printed("crafting", "rsg"))},
        ),
        "layers-enter": Claim(
            "… where only the 100 cheapest states enter a node, which the paper does not say",
            "soft, 5,000 in total",
            {"": both(figure, success("layers-enter", "soft"), printed=printed("crafting", "rsg"))},
            beyond=True,
        ),
        "layers-both": Claim(
            "… with both of these limits",
            "soft, 5,000 at each node, of which the 100 cheapest states enter the next",
            {"": both(figure, "searches/limited/layers-both/soft/SPLIT/success", printed=printed("crafting", "rsg"))},
            beyond=True,
        ),
        "layers-hard": Claim(
            "… where subgoals hold or do not",
            "the same, hard (G ≥ 1/2), 5,000 in total",
            {"": both(figure, success("layers", "hard"), printed=printed("crafting", "rsg"))},
        ),
        "soft": Claim(
            f"soft transitions at the paper's cost: {pair('crafting', 'rsg')}",
            "networks; our order `deepest`, soft, no heuristic, 5,000 in total",
            {"": both(figure, success("deepest", "soft"), printed=printed("crafting", "rsg"))},
        ),
        "soft-novel": Claim(
            "… by the order `novel`",
            "the same, our order `novel`",
            {"": both(figure, success("novel", "soft"), printed=printed("crafting", "rsg"))},
            beyond=True,
        ),
        "balanced": Claim(
            "a subgoal drawn uniformly, then its cheapest state (main text)",
            "networks; `balanced`, soft, no heuristic, 5,000 in total",
            {"": both(figure, success("balanced", "soft"), printed=printed("crafting", "rsg"))},
        ),
        **{
            key: Claim(
                says,
                f"the paper's layers, {kind}: {what} without it ÷ with it",
                {"": [larger(values.format("layers", kind, path), values.format("value", kind, path))]},
                beyond=kind == "hard",
            )
            for key, says, kind, what, path in (
                ("value", "V_t makes the search of training tasks expand less", "soft", "expansions", "expansions"),
                ("value-hard", "… where subgoals hold or do not", "hard", "expansions", "expansions"),
                ("value-time", "V_t makes the search of training tasks faster", "soft", "median time", "ms"),
            )
        },
        "suboptimal": Claim(
            "balancing may give plans that are not the cheapest",
            "formulas, hard, compositional: mean cost of a plan, `balanced` ÷ `optimal`",
            {"": [larger(formulas.format("balanced"), formulas.format("optimal"))]},
        ),
        "optimal": Claim(
            "always taking the globally best makes plans optimal",
            "the same least cost as Fast Downward finds, `optimal`, hard, the truth: problems",
            {"": [agrees("peers/costs/equal", "peers/costs/problems")]},
        ),
        "optimal-longer": Claim(
            "… which may take longer",
            "networks, hard: expansions, `optimal` ÷ `balanced`",
            {"": both(larger, *(f"{networks}/{one}/hard/SPLIT/expansions" for one in ("optimal", "balanced")))},
        ),
        "satisfies": Claim(
            "a plan is guaranteed to satisfy the task",
            "by the classifiers each does; by the truth: wrong plans for a goal, of all",
            {
                MAIN[name].label: [never(f"{every.format(name)}/wrong", f"{every.format(name)}/success/episodes")]
                for name in (OURS, PAPER, PRINTED)
            },
        ),
    }


def goals() -> Claims:
    """Plans when only the goal is named, as that section judges them, in expansions."""
    blind = nodes(f"goal-only/goals/{BLIND}/{HARD}/to_70", PAPER_POINTS[BLIND])
    words = f"{HARD}: blind {PAPER_POINTS[BLIND]:,} nodes to 70 %"
    found = {"goal-blind-nodes": Claim(words, "blind; expansions", {"": [blind]})}
    for method, beyond in ((PRINTED, False), (PAPER, True)):  # the paper has one threshold
        for key, claim in claims_about(method).items():
            found[f"goal-{method}-{key}"] = Claim(
                claim.words,
                f"{MAIN[method].label}; {claim.compared}, expansions to 70 %; `balanced`, hard (G ≥ 1/2), no heuristic",
                {"": [given(f"goal-only/claims/{method}/{key}/expansions")]},
                beyond=beyond,
            )
        found[f"goal-{method}-nodes"] = Claim(
            f"{HARD}: {PAPER_POINTS['with dependencies']:,} nodes to 70 %",
            f"{MAIN[method].label}; expansions",
            {"": [nodes(f"goal-only/goals/{method}/{HARD}/to_70", PAPER_POINTS["with dependencies"])]},
            beyond=beyond,
        )
        found[f"goal-{method}-within"] = Claim(
            "a blind search reaches fewer of all goals within 25,000 expansions",
            f"{MAIN[method].label}; success minus that of blind, in points",
            {"": [more(*(f"goal-only/goals/{one}/all/success" for one in (method, BLIND)))]},
            beyond=beyond,
        )
    return found


FORMS = {  # in which one classifier is compared with two, and the names of both variants
    "ours, 300 steps": ("ours", "two"),
    "ours, 400 steps": ("one-longer", "two-longer"),
    "the paper's objective, 400 steps": ("one-printed", "two-printed"),
    "and no curriculum": ("one-printed-no-curriculum", "two-printed-no-curriculum"),
    "and a rate of 0.001": ("one-printed-slow", "two-printed-slow"),
    "no curriculum, sampled cost-to-go, 200 steps": ("one-printed-sampled", "two-printed-sampled"),
}


def changed(name: str) -> str:
    """Where the success of an ablation stands."""
    return f"ablations/{name}/success/SPLIT"


def settings() -> Claims:
    """What the paper says of its settings."""
    less = "minus ours, in points; networks, " + DEEPEST
    alphas, ratios = ("0.1", "0.3", "3", "10"), {"0.1": 1, "0.3": 3, "3": 30, "10": 100}
    rows = {
        "alpha": Claim(
            "not sensitive to α: 0.1 < α < 10 perform alike",
            f"α {less}",
            {f"{one}:": both(alike, changed(f"alpha-{one}"), changed("ours")) for one in alphas},
        ),
        "lambda": Claim(
            "a bit sensitive to λ : action cost",
            "ours (a ratio of 10) minus other ratios, in points; one that is worse is enough",
            {f"{ratio}:": both(more, changed("ours"), changed(f"weight-{one}")) for one, ratio in ratios.items()},
            some,
        ),
        "lambda-rule": Claim(
            "λ = steps per subgoal × action cost is good",
            f"λ by that rule {less}",
            {"": both(no_worse, changed("weight-0.45"), changed("ours"))},
        ),
        "gamma": Claim(
            "0.01 < γ < 0.1 works well",
            f"γ {less}",
            {f"{one}:": both(no_worse, changed(f"gamma-{one}"), changed("ours")) for one in ("0.01", "0.03")},
        ),
        "beta": Claim(
            "0.1 < β < 1 works well",
            f"β {less}",
            {f"{one}:": both(no_worse, changed(f"beta-{one}"), changed("ours")) for one in ("0.1", "0.3")},
        ),
        "contrast": Claim(
            "the contrastive term improves the optimisation",
            f"ours minus without it, in points; networks, {DEEPEST}",
            {"": both(more, changed("ours"), changed("no-contrast"))},
        ),
        "expectation": Claim(
            "the best alignment or an expectation: unclear which is better (here: they are alike)",
            f"expectation {less}",
            {"": both(alike, changed("alignment-expectation"), changed("ours"))},
        ),
        "ignores-i": Claim(
            "planning can ignore I (G and I apart)",
            f"with 1 − G minus with I for “not yet”, in points; {DEEPEST}",
            {
                "": both(
                    alike,
                    "instructions/success/RSG with G and I apart, strict/SPLIT",
                    "instructions/success/RSG with G and I apart, strict, I for “not yet”/SPLIT",
                )
            },
        ),
    }
    for place, (words, (one, two)) in enumerate(FORMS.items()):
        rows[f"apart-{place}"] = Claim(
            f"G and I apart do better than one classifier (99.6 and 75): {words}",
            f"two minus one, in points; networks, {DEEPEST}",
            {"": both(more, changed(two), changed(one))},
        )
        rows[f"stuck-{place}"] = Claim(
            f"with one classifier more of them are stuck: {words}",
            "classifiers of 26 that are wrong in many states, one and two",
            {"": [count(f"ablations/{one}/stuck", f"ablations/{two}/stuck")]},
        )
    return rows


def understanding() -> Claims:
    """What is learned of single subgoals: where they end, what comes before what, and which task was done."""
    ends, ranks = "recognition/segmentation/SPLIT/exact", "recognition/recognition/{}/"
    watched, seen = f"playroom/watched/{ROBOT}/recognition/{{}}/", f"playroom/watched/{ROBOT}/segmentation/SPLIT/"
    high = 1 - POINTS, 1.0
    places = {"training": "train", "novel": "novel"}
    return {
        "segments": Claim(
            "segments demonstrations and learns the subgoals jointly",
            "Crafting World: ends of subgoals that are exactly those of the truth, in percent",
            {"": [between(ends.replace("SPLIT", split), *high) for split in SPLITS]},
        ),
        **{
            f"segments-playroom-{key}": Claim(
                f"… Playroom, {how}",
                f"robot-frame network: ends of subgoals that are those of the truth {how}, in percent",
                {"": [between(seen.replace("SPLIT", split) + key, *high) for split in SPLITS]},
            )
            for key, how in (("exact", "to the step"), ("near", "within one step"))
        },
        **{
            f"dependencies-{threshold}": Claim(
                f"discovers which subgoals help which ({words})",
                "the matrix d: pairs of a true prerequisite and a false link that rank rightly, in percent",
                {"": [ranked(f"goal-only/links/counts/{threshold}/matrix", "goal-only/links/compared")]},
                beyond=threshold == "half",
            )
            for threshold, words in (("paper", "threshold as printed"), ("half", "G ≥ 1/2"))
        },
        "recognises-crafting": Claim(
            "a trajectory tells which task it did (score alone)",
            "Crafting World: right minus an observer who knows the truth, in points",
            {
                f"{name}:": [no_worse(ranks.format(split) + "plain", ranks.format(split) + "ideal")]
                for name, split in places.items()
            },
        ),
        "recognises-bonus": Claim(
            "… with 0.5 for each named step, which the paper does not have",
            "Crafting World: right minus an observer who knows the truth, in points",
            {
                f"{name}:": [no_worse(ranks.format(split) + "right", ranks.format(split) + "ideal")]
                for name, split in places.items()
            },
            beyond=True,
        ),
        "recognises-playroom": Claim(
            "a trajectory tells which task it did, Playroom (score alone)",
            "right minus an observer who knows the truth, in points",
            {
                f"{name}:": [no_worse(watched.format(split) + "plain", watched.format(split) + "ideal")]
                for name, split in places.items()
            },
        ),
    }


def costs() -> Claims:
    """The table of times: ours beside the printed ones, then who takes longer than whom."""
    found = {}
    for world in WORLDS:
        for method, (_, minutes, plan) in PAPER_TIMES[world].items():
            path = f"baselines/costs/{world}/{method}"
            found[f"epoch-{method}-{world}"] = Claim(
                f"{LABELS[method]}, {NAMES[world]}: an epoch in {60 * minutes:,.0f} s",
                "processor time of 30 batches",
                {"": [seconds(f"{path}/epoch_seconds", 60 * minutes)]},
            )
            if plan:
                found[f"plan-{method}-{world}"] = Claim(
                    f"{LABELS[method]}, {NAMES[world]}: a plan in {plan:.2f} s",
                    "a plan, or an episode side by side with others",
                    {"": [seconds(f"{path}/episode_ms", plan, 1e-3)]},
                )
    for world in WORLDS:
        for what, key, place in (("an epoch", "epoch_seconds", 1), ("a plan", "episode_ms", 2)):
            found[f"order-{key}-{world}"] = _order(world, what, key, place)
    return found


def _order(world: str, what: str, key: str, place: int) -> Claim:
    """Whether RSG takes longer than another method, or shorter, as in the paper's table."""
    told = {method: float(row[place] or 0) for method, row in PAPER_TIMES[world].items() if row[place]}
    own, more_than, less_than = told.pop("rsg"), list[str](), list[str]()
    parts: dict[str, list[Part]] = {}
    for method, other in told.items():
        rsg, baseline = (f"baselines/costs/{world}/{one}/{key}" for one in ("rsg", method))
        if own > other:
            more_than.append(LABELS[method])
            parts[f"RSG ÷ {LABELS[method]}"] = [larger(rsg, baseline)]
        else:
            less_than.append(LABELS[method])
            parts[f"{LABELS[method]} ÷ RSG"] = [larger(baseline, rsg)]
    words = [f"{word} than {', '.join(names)}" for word, names in (("more", more_than), ("less", less_than)) if names]
    return Claim(
        f"{NAMES[world]}: {what} of RSG takes {' and '.join(words)}", "how many times, the same machine", parts
    )


CLAIMS: Mapping[str, Claims] = {
    "The main table": figures_of_table(),
    "What the text says of it": comparisons(),
    "The search": searches(),
    "Only the goal is named": goals(),
    "The settings": settings(),
    "What is understood": understanding(),
    "Times": costs(),
}
