"""Writes the large models: python3 make_models.py FOLDER.

Flat files of E elements, ladders of N cells in a `for`, a star and a ring of N bonds.
"""

import os
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def write(name, lines):
    with open(os.path.join(folder, name), "w") as out:
        out.write("\n".join(lines) + "\n")


for size in (1000, 10_000, 100_000):
    # Four elements in a cell: two junctions, a resistor, a capacitor.
    cells = size // 4
    lines = ["model Flat {", "    source: Se(1 [V]) -> branch1"]
    for i in range(1, cells + 1):
        lines.append(f"    branch{i}: 1 -> node{i}: 0 -> cap{i}: C({i} [uF])")
        lines.append(f"    branch{i} -> res{i}: R({i} [ohm])")
        if i < cells:
            lines.append(f"    node{i} -> branch{i + 1}")
    write(f"flat{size}.bond", lines + ["}"])

    for what, n in (("ladder", size), ("small_ladder", size // 4)):
        write(f"{what}{size}.bond", [
            "model Ladder {",
            f"    param n = {n}, r = 1 [ohm], c = 1 [uF]",
            "    source: Se(1 [V]) -> branch[1]",
            "    for i in 1 .. n {",
            "        branch[i]: 1 -> node[i]: 0 -> cap[i]: C(c)",
            "        branch[i] -> res[i]: R(r)",
            "        if i < n { node[i] -> branch[i+1] }",
            "    }",
            "    output v_end = cap[n].e",
            "}",
            "",
            "experiment big of Ladder { stop = 1 [s]; method = bdf; record v_end }",
        ])

    write(f"cells{size}.bond", [
        "model Cell {",
        "    param r [ohm], c [uF]",
        "    port a: electrical, b: electrical",
        "    a -> br: 1 -> nd: 0 -> b",
        "    br -> res: R(r)",
        "    nd -> cap: C(c)",
        "}",
        "model Cells {",
        f"    param n = {size}, r = 1 [ohm], c = 1 [uF]",
        "    Se(1 [V]) -> cell[1].a",
        "    for i in 1 .. n { cell[i]: Cell(r = r, c = c) }",
        "    for i in 2 .. n { cell[i-1].b -> cell[i].a }",
        "    cell[n].b -> load: R(r)",
        "}",
    ])

    # Bonds: one per storage and resistor.
    write(f"star{size}.bond", [
        "model Star {",
        f"    param n = {size // 2}",
        "    hub: 0 -> c0: C(1 [uF])",
        "    for i in 1 .. n { hub -> arm[i]: 1 -> res[i]: R(1 [ohm]) }",
        "}",
    ])

    write(f"ring{size}.bond", [
        "model Ring {",
        f"    param n = {size // 4}",
        "    for i in 1 .. n {",
        "        node[i]: 0 -> cap[i]: C(1 [uF])",
        "        node[i] -> link[i]: 1 -> res[i]: R(1 [ohm])",
        "        if i < n { link[i] -> node[i+1] }",
        "    }",
        "    link[n] -> node[1]",
        "}",
    ])

write("ladder50.bond", [line for line in open(os.path.join(folder, "ladder1000.bond")).read()
                        .replace("n = 1000,", "n = 50,").splitlines()])
