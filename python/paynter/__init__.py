"""Paynter: bond-graph modelling and simulation.

>>> import paynter
>>> m = paynter.model('''
... model RC {
...     param R1 = 1 [kohm], C1 = 100 [uF]
...     supply: Se(5 [V]) -> loop: 1 -> r: R(R1), c: C(C1)
...     output v [V] = c.e
... }
... experiment charge of RC { stop = 0.5 [s]; record v }
... ''')
>>> print(m.equations())
c.q' = (5 - c.q/C1)/R1
v = c.q/C1
>>> result = m.run()
>>> round(float(result["v"][-1]), 4)
4.9663
>>> round(float(m.set(R1="2 [kohm]").run()["v"][-1]), 4)
4.5896
"""

from ._paynter import (
    CallError,
    Interrupted,
    ModelError,
    PaynterError,
    RunError,
    __version__,
)
from .answers import Causality, Check, Equations, Picture
from .build import Graph, Part
from .export import Exported, Imported, Lagrangian, Rewritten
from .linear import (
    Bode,
    Gains,
    LinearModel,
    Locus,
    Margins,
    Methods,
    Observer,
    Poles,
    SampledModel,
    Spread,
    StateSpace,
    StepResponse,
    Structure,
    Transfers,
)
from .model import Model, doc, explain, gallery, import_urdf, load, model
from .result import Columns, Plot, Result, Spectrum, SweepResult, merge, read
from .search import Fit, Optimum, Screening, Sensitivities, TradeOff

__all__ = [
    "Bode",
    "CallError",
    "Causality",
    "Check",
    "Columns",
    "Equations",
    "Exported",
    "Fit",
    "Gains",
    "Graph",
    "Imported",
    "Interrupted",
    "Lagrangian",
    "LinearModel",
    "Locus",
    "Margins",
    "Methods",
    "Model",
    "ModelError",
    "Observer",
    "Optimum",
    "Part",
    "PaynterError",
    "Picture",
    "Plot",
    "Poles",
    "Result",
    "Rewritten",
    "RunError",
    "SampledModel",
    "Screening",
    "Sensitivities",
    "Spectrum",
    "Spread",
    "StateSpace",
    "StepResponse",
    "Structure",
    "SweepResult",
    "TradeOff",
    "Transfers",
    "__version__",
    "doc",
    "explain",
    "gallery",
    "import_urdf",
    "load",
    "merge",
    "model",
    "read",
]
