"""Whatever the command line can do, Python can do: every command and option has its counterpart here.

The commands and options are read from the program's own help. A new one fails this test until it has a name in Python,
or a reason in the lists below.
"""

import inspect
import os
import re
import shutil
import subprocess
from collections.abc import Callable

import paynter
import pytest
from conftest import ROOT
from paynter import Model
from paynter.linear import LinearModel

PROGRAM = os.environ.get("PAYNTER_BINARY") or shutil.which("paynter") or str(ROOT / "target/release/paynter")

#: Commands that make no sense in Python.
NO_SENSE = {
    "new": "a file is written by paynter.model(text).save(path), or paynter.gallery(name).save(path)",
    "gallery": "paynter.gallery() lists and opens; running all of it is a loop over .experiments with .run(), .is_good",
    "studio": "opens a page in the browser; a server of its own process",
    "watch": "follows a file that an editor saves; a notebook runs its cell",
    "lsp": "answers editors over standard input and output",
    "completions": "completes words in a shell",
    "man": "prints the manual page of the program",
    "help": "Python has help()",
}

#: What answers a command. Several where one option chooses between them.
CALLS: dict[str, list[Callable]] = {
    "run": [Model.run],
    "sweep": [Model.sweep],
    "optimize": [Model.optimize, Model.pareto],
    "fit": [Model.fit],
    "check": [Model.check],
    "causality": [Model.causality],
    "equations": [Model.equations],
    "lagrangian": [Model.lagrangian],
    "simplify": [Model.simplify],
    "reduce": [Model.reduce],
    "scalarize": [Model.scalarize],
    "linearize": [Model.linearize],
    "locus": [Model.locus],
    "tf": [Model.linearize, LinearModel.transfer_functions],
    "spectrum": [paynter.Columns.spectrum],
    "screen": [Model.screen],
    "sensitivity": [Model.sensitivity],
    "poles": [Model.linearize, LinearModel.poles],
    "bode": [Model.linearize, LinearModel.bode],
    "margins": [Model.margins],
    "step": [Model.linearize, LinearModel.step],
    "structure": [Model.structure],
    "lqr": [Model.linearize, LinearModel.lqr],
    "lqi": [Model.linearize, LinearModel.lqi],
    "lqe": [Model.linearize, LinearModel.lqe],
    "lyap": [Model.linearize, LinearModel.lyap],
    "place": [Model.linearize, LinearModel.place],
    "c2d": [Model.linearize, LinearModel.c2d, LinearModel.matched],
    "d2c": [Model.linearize, LinearModel.d2c],
    "compare-methods": [Model.compare_methods],
    "diagram": [Model.diagram],
    "export": [Model.export_fmu, Model.export_c],
    "import": [paynter.import_urdf],
    "plot": [paynter.Columns.plot],
    "fmt": [Model.format],
    "doc": [paynter.doc],
    "explain": [paynter.explain],
}

#: Options of all commands.
EVERYWHERE = {
    "--help": "help()",
    "--json": "plain objects: .facts",
    "--set": Model.set,
    "--model": "model",
    "--experiment": "experiment",
    "--engine": "engine",
    "--from": "inputs",
    "--to": "outputs",
    "--open": "open_loop",
}

#: Options under another name: a keyword of the call, or what gives the same.
ELSEWHERE = {
    ("run", "--out"): paynter.Result.save,
    ("run", "--plot"): paynter.Result.plots,
    ("run", "--report"): paynter.Result.report,
    ("run", "--structure"): paynter.Result.report,
    ("run", "--no-report"): "no page is written unless .report(path) is called",
    ("sweep", "--sweep"): "over",
    ("sweep", "--shard"): "shards",
    ("sweep", "--merge"): paynter.merge,
    ("sweep", "--out"): paynter.SweepResult.save,
    ("sweep", "--bands"): paynter.SweepResult.bands,
    ("sweep", "--plot"): paynter.SweepResult.plot_measures,
    ("sweep", "--family"): paynter.SweepResult.family,
    ("optimize", "--write"): paynter.Optimum.written,
    ("optimize", "--table"): paynter.Optimum.trials,
    ("optimize", "--pareto"): "points",
    ("optimize", "--plot"): paynter.TradeOff.plot,
    ("fit", "--table"): paynter.Fit.samples,
    ("causality", "--why"): paynter.Causality.why,
    ("causality", "--steps"): paynter.Causality.steps,
    ("causality", "--alternatives"): paynter.Causality.alternatives,
    ("equations", "--format"): paynter.Equations._repr_latex_,
    ("lagrangian", "--out"): Model.save,
    ("simplify", "--out"): Model.save,
    ("reduce", "--out"): Model.save,
    ("scalarize", "--out"): Model.save,
    ("linearize", "--out"): LinearModel.save,
    ("locus", "--from"): "the poles of a loop do not depend on it; the program takes it with all linear commands",
    ("locus", "--to"): "the poles of a loop do not depend on it; the program takes it with all linear commands",
    ("locus", "--open"): "the poles of a loop do not depend on it; the program takes it with all linear commands",
    ("locus", "--plot"): paynter.Locus.plot,
    ("spectrum", "--of"): "columns",
    ("spectrum", "--from"): "start",
    ("spectrum", "--to"): "stop",
    ("spectrum", "--out"): paynter.Spectrum.save,
    ("spectrum", "--plot"): paynter.Spectrum.plot,
    ("screen", "--range"): "ranges",
    ("sensitivity", "--out"): paynter.Sensitivities.save,
    ("sensitivity", "--plot"): paynter.Sensitivities.plot,
    ("poles", "--plot"): paynter.Poles.plot,
    ("bode", "--out"): paynter.Bode.save,
    ("bode", "--plot"): paynter.Bode.plot,
    ("margins", "--plot"): paynter.Margins.plot,
    ("margins", "--nyquist"): paynter.Margins.nyquist,
    ("margins", "--nichols"): paynter.Margins.nichols,
    ("step", "--for"): "duration",
    ("step", "--out"): paynter.StepResponse.save,
    ("step", "--plot"): paynter.StepResponse.plot,
    ("structure", "--along"): "instants",
    ("structure", "--reduce"): "keep",
    ("structure", "--partition"): "limit",
    ("structure", "--channels"): "question",
    ("structure", "--activity"): "question",
    ("structure", "--faults"): "question",
    ("structure", "--loops"): "question",
    ("structure", "--bicausal"): "question",
    ("structure", "--out"): Model.save,
    ("structure", "--svg"): paynter.Structure.plot,
    ("diagram", "--out"): paynter.Picture.save,
    ("diagram", "--open"): "parts",
    ("diagram", "--closed"): "parts",
    ("diagram", "--no-signals"): "signals",
    ("export", "--out"): "path",
    ("export", "--float"): "single",
    ("import", "--out"): Model.save,
    ("plot", "--out"): paynter.Plot.save,
    ("fmt", "--check"): "m.format() == m",
}

#: Reasons in place of a name, which no keyword can be taken for.
REASONS = {
    EVERYWHERE["--help"],
    EVERYWHERE["--json"],
    ELSEWHERE["run", "--no-report"],
    ELSEWHERE["locus", "--from"],
    ELSEWHERE["fmt", "--check"],
}


def asked(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True)
    return done.stdout


def commands():
    listed = asked("--help").split("Commands:")[1].split("Options:")[0]
    return re.findall(r"^  ([a-z][a-z0-9-]*)", listed, re.M)


def options_of(command):
    words = [command, "urdf"] if command == "import" else [command]
    return re.findall(r"^\s+(?:-\w, )?(--[a-z][a-z-]*)", asked(*words, "--help"), re.M)


def counterpart(command, option):
    """What answers an option: a keyword, a member, or a reason."""
    if (command, option) in ELSEWHERE:
        return ELSEWHERE[command, option]
    keyword = option.removeprefix("--").replace("-", "_")
    keywords = [name for call in CALLS[command] for name in inspect.signature(call).parameters]
    return keyword if keyword in keywords else EVERYWHERE.get(option)


needs_program = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="the program is not built")


@needs_program
def test_every_command_has_a_counterpart():
    there = set(commands())
    missing = there - set(CALLS) - set(NO_SENSE)
    assert not missing, f"these commands have no counterpart in Python: {sorted(missing)}"
    assert not set(CALLS) - there and not set(NO_SENSE) - there, "a command is listed here that is gone"
    assert not set(CALLS) & set(NO_SENSE)


@needs_program
@pytest.mark.parametrize("command", sorted(CALLS))
def test_every_option_has_a_counterpart(command):
    there = options_of(command)
    assert there, "the help of the command lists no options"
    for option in there:
        found = counterpart(command, option)
        assert found is not None, f"`paynter {command} {option}` has no counterpart in Python"
        if not isinstance(found, str) or found in REASONS:
            continue
        keywords = [name for call in CALLS[command] for name in inspect.signature(call).parameters]
        assert found in keywords, f"{CALLS[command]} has no keyword {found!r} for {option}"
    listed = {option for name, option in ELSEWHERE if name == command}
    assert listed <= set(there), f"{listed - set(there)} of `{command}` are gone"


@needs_program
def test_the_walk_finds_what_is_missing():
    """The test can fail: an option that nobody has is missing."""
    assert counterpart("run", "--weather") is None
    assert "--engine" in options_of("run") and "--nyquist" in options_of("margins")
    assert len(commands()) > 40
