"""What Python builds and what a text says are the same graph."""

import random

import paynter
import pytest
from paynter import Graph


def rc():
    g = Graph("RC", doc="A capacitor charged through resistors")
    resistance = g.param("R1", 100, "ohm")
    supply = g.add("supply", "Se", "5 [V]")
    loop = g.junction("loop", 1)
    supply >> loop
    for k in range(3):
        loop >> g.add(f"r{k}", "R", resistance)
    loop >> g.add("c", "C", "1 [mF]")
    g.output("v", "c.e", "V")
    g.experiment("charge", stop="1 [s]", record="v")
    return g


def test_what_is_built_runs():
    assert rc().model().run("charge").audit["is_good"]


def test_what_is_built_is_laid_out_as_a_text():
    m = rc().model()
    again = m.format()
    assert again.causality().facts == m.causality().facts
    assert again.equations().text == m.equations().text


def random_graph(rng):
    """A tree of junctions with elements at them; the structure is noted beside the graph."""
    g = Graph("M")
    elements, bonds = [], []

    def add(name, kind, *args, **kwargs):
        elements.append((name, kind))
        return g.add(name, kind, *args, **kwargs)

    def join(a, b):
        bonds.append((a.name, b.name))
        a >> b

    junctions = [g.junction("j0", rng.randint(0, 1))]
    elements.append(("j0", None))
    for k in range(1, rng.randint(2, 9)):
        parent = rng.choice(junctions)
        child = g.junction(f"j{k}", rng.randint(0, 1))
        elements.append((f"j{k}", None))
        if rng.random() < 0.3:
            two = add(f"t{k}", rng.choice(["TF", "GY"]), rng.uniform(0.5, 2))
            join(parent, two)
            join(two, child)
        else:
            join(*((parent, child) if rng.random() < 0.5 else (child, parent)))
        junctions.append(child)
    for k, junction in enumerate(junctions):
        for n in range(rng.randint(1, 3)):
            kind = rng.choice(["R", "I", "C"])
            join(junction, add(f"{kind.lower()}{k}_{n}", kind, rng.uniform(0.1, 10)))
    join(add("s", "Se", rng.uniform(1, 9)), junctions[0])
    return g, elements, bonds


@pytest.mark.parametrize("seed", range(60))
def test_a_random_graph_is_read_back_as_it_was_built(seed):
    g, elements, bonds = random_graph(random.Random(seed))
    m = g.model()
    try:
        found = m.graph()
    except paynter.ModelError as error:
        pytest.fail(f"{error}\n{g.text()}")
    names = [e["name"] for e in found["elements"]]
    # The order of the text is the order of the graph.
    assert sorted(names) == sorted(n for n, _ in elements)
    kinds = {e["name"]: e["kind"] for e in found["elements"]}
    assert all(kinds[n] == k for n, k in elements if k is not None)
    read = [(names[b["from"]], names[b["to"]]) for b in found["bonds"]]
    assert sorted(read) == sorted(bonds)
    # And once more through the text and the formatter.
    assert paynter.model(m.format().text()).graph() == found


@pytest.mark.parametrize("seed", range(20))
def test_a_random_ladder_is_the_ladder_written_by_hand(seed):
    rng = random.Random(seed)
    n = rng.randint(2, 8)
    values = [(rng.uniform(1, 9), rng.uniform(1, 9)) for _ in range(n)]
    g = Graph("L")
    before = g.add("s", "Se", 1)
    lines = ["s: Se(1.0)"]
    for k, (r, c) in enumerate(values):
        mesh, node = g.junction(f"m{k}", 1), g.junction(f"n{k}", 0)
        before >> mesh >> node
        mesh >> g.add(f"r{k}", "R", r)
        node >> g.add(f"c{k}", "C", c)
        lines += [f"m{k}: 1", f"n{k}: 0", f"{before.name} -> m{k} -> n{k}"]
        lines += [f"m{k} -> r{k}: R({r!r})", f"n{k} -> c{k}: C({c!r})"]
        before = node
    written = paynter.model("model L {\n" + "\n".join(lines) + "\n}")
    assert g.model().causality().facts == written.causality().facts
    assert g.model().equations().text == written.equations().text


def load_part():
    load = Graph("Load")
    size = load.param("size", 2)
    node = load.junction("n", 0)
    node >> load.add("r", "R", size)
    load.port("p", "electrical", node)
    return load


def test_submodels_are_placed_with_values_in_a_loop():
    g = Graph("M")
    g.include(load_part())
    g.include(load_part())
    node = g.junction("n", 0)
    g.add("s", "Sf", 1) >> node
    for k, size in enumerate([4, 5, 6]):
        node >> g.add(f"load{k}", "Load", values={"size": size}).p
    node >> [g.add("c", "C", 1)]
    m = g.model()
    assert m.causality().order == 1
    assert m.parameters["load2.size"] == 6
    # c' = 1 - e (1/4 + 1/5 + 1/6), e = q
    assert m.linearize().A[0, 0] == pytest.approx(-(1 / 4 + 1 / 5 + 1 / 6), rel=1e-12)


def test_wrong_graphs_are_refused():
    g = Graph("M")
    r = g.add("r", "R", 1)
    with pytest.raises(paynter.CallError, match="already exists"):
        g.add("r", "R", 2)
    with pytest.raises(paynter.CallError, match="0 or 1"):
        g.junction("j", 2)
    with pytest.raises(paynter.CallError, match="cannot be the name"):
        g.add("a b", "R", 1)
    with pytest.raises(TypeError, match="text"):
        g.add("x", 3)
    with pytest.raises(TypeError, match="not a value"):
        g.add("y", "R", object())
    with pytest.raises(TypeError, match="joins parts"):
        r >> 3
    with pytest.raises(paynter.CallError, match="another graph"):
        r >> Graph("N").junction("j", 1)
    other = Graph("Load")
    g.include(load_part())
    with pytest.raises(paynter.CallError, match="two different models"):
        g.include(other)
    with pytest.raises(paynter.ModelError):
        g.model().run()


def test_a_name_that_failed_can_be_used_again():
    g = Graph("M")
    with pytest.raises(TypeError):
        g.add("r", "R", object())
    g.add("r", "R", 1)
