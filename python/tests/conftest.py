"""What the tests share: a model whose run has a closed form."""

from pathlib import Path

import numpy as np
import paynter
import pytest

ROOT = Path(__file__).parents[2]
RC = """
model RC {
    param R1 = 1000 [ohm], C1 = 1e-4 [F]
    supply: Se(5 [V]) -> loop: 1 -> r: R(R1), c: C(C1)
    output v [V] = c.e
}
experiment charge of RC { stop = 0.5 [s]; output_step = 0.05 [s]; record v; measure end = final(v) }
experiment grid of RC { stop = 0.1 [s]; record v; sweep R1 in [100, 200, 500] [ohm]; measure end = final(v) }
"""
#: Runs for hours unless it is stopped.
LONG = """model M { s: Se(sin(1000*time)) -> j: 1 -> i: I(1), c: C(1), r: R(1) }
experiment go of M { stop = 1e5; output_step = 0.05; record i.f; max_steps = 1000000000 }"""


def charged(t, resistance=1000.0, capacity=1e-4):
    """The closed form of RC."""
    return 5 * (1 - np.exp(-t / (resistance * capacity)))


@pytest.fixture
def rc():
    return paynter.model(RC)
