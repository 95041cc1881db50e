import gc
import json
import os
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from rsg.core.errors import TaskError
from rsg.language import Machine, Term, parse

GOLDEN = Path(__file__).parent.parent / "golden"


def paper_tasks():
    split = ""
    for line in (GOLDEN / "paper_tasks.txt").read_text().splitlines():
        if line.startswith("["):
            split = line.strip("[]")
        elif not line.startswith("#"):
            yield split, line


def as_values(machine):
    return {
        "terms": [str(term) for term in machine.terms],
        "term_of": machine.term_of.tolist(),
        "next": [machine.successors(node).tolist() for node in range(machine.nodes)],
    }


def test_the_papers_tasks_keep_their_machines():
    tasks = list(paper_tasks())
    splits = [split for split, _ in tasks]
    assert [splits.count(split) for split in dict.fromkeys(splits)] == [26, 26, 12, 8, 6, 8, 8]
    machines = {text: as_values(Machine.of(parse(text))) for _, text in tasks}
    file = GOLDEN / "paper_machines.json"
    if os.environ.get("RSG_WRITE_GOLDEN"):
        lines = ",\n".join(f" {json.dumps(text)}: {json.dumps(machine)}" for text, machine in machines.items())
        file.write_text(f"{{\n{lines}\n}}\n")
    assert machines == json.loads(file.read_text())


def test_the_papers_tasks_print_as_they_are_written():
    for _, text in paper_tasks():
        tree = parse(text)
        assert parse(str(tree)) == tree
        assert len(str(tree)) <= len(text)


def test_nodes_are_in_topological_order():
    machine = Machine.of(parse("a and (b then c or d) then e"))
    for node in range(machine.nodes):
        assert (machine.successors(node) > node).all()
    assert machine.term_of[0] == machine.term_of[-1] == -1
    assert len(machine.successors(machine.nodes - 1)) == 0


def test_then_links_every_end_with_every_start():
    machine = Machine.of(parse("(a or b) then (c or d)"))
    assert as_values(machine)["next"] == [[1, 2], [3, 4], [3, 4], [5], [5], []]


@pytest.mark.parametrize("n", range(2, 9))
def test_and_is_a_lattice_of_shared_copies(n):
    machine = Machine.of(parse(" and ".join("abcdefgh"[:n])))
    assert machine.nodes == n * 2 ** (n - 1) + 2
    assert machine.edges == n * (n - 1) * 2**n // 4 + 2 * n
    assert machine.count_instructions() == np.prod(np.arange(1, n + 1))


def test_and_over_ten_terms_is_small_and_quick():
    task = parse(" and ".join("abcdefghij"))
    seconds = []
    for _ in range(5):
        start = time.process_time()
        machine = Machine.of(task)
        seconds.append(time.process_time() - start)
    assert machine.nodes <= 5122
    assert min(seconds) <= 0.05


@pytest.mark.parametrize("n", [14, 200, 20_000])
def test_a_machine_beyond_the_limit_is_refused_at_once(n):
    task = parse("&".join(["a"] * n))
    gc.disable()  # a collection of what other tests left behind takes longer than this does
    try:
        start = time.process_time()
        with pytest.raises(TaskError, match=r"limit of 65,536 nodes .*say part of the order with 'then'"):
            Machine.of(task)
        assert time.process_time() - start < 1
    finally:
        gc.enable()


def test_too_many_edges_are_refused():
    wide = f"({' or '.join(['a'] * 2000)})"
    with pytest.raises(TaskError, match=r"4,004,000 edges"):
        Machine.of(parse(f"{wide} then {wide}"))


def test_paths_are_lazy_and_distinct():
    machine = Machine.of(parse(" and ".join("abcdefghij")))
    first = list(islice(machine.paths(), 3))
    assert first[0] == tuple(map(Term, "abcdefghij"))
    assert len(set(first)) == 3
    machine = Machine.of(parse("(a and b) or (a then b) or a or a"))
    paths = [" ".join(map(str, path)) for path in machine.paths()]
    assert sorted(paths) == ["a", "a b", "b a"]
    assert machine.count_instructions() == 3


@pytest.mark.no_cover
def test_long_chains_need_no_recursion():
    machine = Machine.of(parse(" > ".join(["(a|b)"] * 5000)))
    assert machine.count_instructions() == 2**5000
    assert len(next(machine.paths())) == 5000


def test_counting_gives_up_with_a_message(monkeypatch):
    machine = Machine.of(parse("a and b and c and d"))
    monkeypatch.setattr("rsg.language.machine.MAX_EDGES", 20)
    with pytest.raises(TaskError, match="too many instructions to count: a and b and c and d"):
        machine.count_instructions()


def test_what_is_not_a_task():
    from rsg.language import satisfies

    with pytest.raises(TaskError, match=r"made of a task, not of str; use rsg\.parse"):
        Machine.of("a then b")
    with pytest.raises(TaskError, match="judged by a task, not by str"):
        satisfies([[0], [1]], "a")
    with pytest.raises(TaskError, match="parsed from a text, not from int"):
        parse(5)


def test_arrays_for_kernels():
    machine = Machine.of(parse("b then a(x) or b"))
    assert machine.names == ("b", "a(x)")
    assert [part.tolist() for part in machine.arrays] == [
        part.tolist() for part in (machine.term_of, machine.next_start, machine.next_node)
    ]
    wider = machine.among({"a(x)": 4, "c": 0, "b": 7})
    assert wider.term.tolist() == [-1 if term < 0 else (7, 4)[term] for term in machine.term_of]
    assert wider.after is machine.next_node
