"""Questions that need no run, and what wrong input says."""

import pickle

import numpy as np
import paynter
import pytest
from conftest import RC, ROOT


def test_equations_are_those_of_the_model(rc):
    equations = rc.equations()
    assert "c.q' = (5 - c.q/C1)/R1" in equations.text
    assert "\\dot" in equations.latex and equations._repr_latex_().startswith("$$")
    assert equations.facts
    for form in ("dae", "blocks", "matrix"):
        assert rc.equations(form=form).text


def test_a_file_and_its_text_give_the_same():
    path = ROOT / "gallery/gyroscope/gyroscope.bond"
    by_path = paynter.load(path)
    by_text = paynter.model(path.read_text(), name=str(path))
    assert by_path.equations().text == by_text.equations().text
    assert by_path == by_text and by_path.causality().order == 4


def test_the_gallery_travels_with_the_package():
    names = paynter.gallery()
    assert {"gyroscope", "servo"} <= set(names)
    for name in names:
        assert paynter.gallery(name).experiments, name


def test_values_are_set_with_and_without_units(rc):
    assert rc.set(R1=2000).parameters["R1"] == 2000
    assert rc.set(R1="2 [kohm]").parameters["R1"] == 2000
    assert rc.set({"R1": np.float64(3)}).parameters["R1"] == 3
    assert rc.set({"R1 [kohm]": 2}).parameters["R1"] == 2000
    assert rc.set(R1=np.array(4)).set(C1=1).parameters == {"R1": 4, "C1": 1}
    assert rc.parameters["R1"] == 1000


def test_a_plain_number_is_not_taken_for_another_unit():
    m = paynter.model(RC.replace("1000 [ohm]", "1 [kohm]"))
    with pytest.raises(paynter.ModelError, match="kohm is not the SI unit"):
        m.set(R1=2000).run()
    with pytest.raises(paynter.ModelError, match="kohm is not the SI unit"):
        m.sweep("charge", over={"R1": [1000.0, 2000.0]})
    assert list(m.sweep("charge", over={"R1 [kohm]": [1, 2]})["R1"]) == [1000, 2000]


@pytest.mark.parametrize("number", [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789])
def test_a_number_keeps_every_bit(rc, number):
    assert rc.set(R1=number).parameters["R1"] == number


def test_pint_quantities_are_values(rc):
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    assert rc.set(R1=2 * u.kiloohm).parameters["R1"] == 2000
    assert rc.set(C1=3 * u.microfarad).parameters["C1"] == pytest.approx(3e-6, rel=1e-15)
    with pytest.raises(paynter.ModelError):
        rc.set(R1=2 * u.meter).run()
    sweep = rc.sweep("charge", over={"R1": [1, 2] * u.kiloohm})
    assert list(sweep["R1"]) == [1000, 2000]


def test_pictures_have_the_right_kind(rc, tmp_path):
    assert rc.diagram().data.startswith(b"<svg")
    assert rc.diagram("png").data.startswith(b"\x89PNG")
    assert rc.diagram("pdf").data.startswith(b"%PDF")
    assert "tikzpicture" in rc.diagram("tikz").data.decode()
    assert rc._repr_svg_().startswith("<svg")
    assert rc.diagram(power=True).data != rc.diagram().data
    assert rc.diagram(frames=True, theme="dark").data.startswith(b"<svg")
    rc.diagram().save(tmp_path / "m.svg")
    assert (tmp_path / "m.svg").read_bytes() == rc.diagram().data


def test_causality_says_why(rc):
    causality = rc.causality()
    assert causality.order == 1 and not causality.conflicts
    assert "supply" in causality.why("supply")
    assert causality.steps() and causality.alternatives()
    with pytest.raises(paynter.CallError, match="nobody"):
        causality.why("nobody")


def test_a_linear_model_has_names_and_matrices(rc):
    linear = rc.linearize(inputs="supply.e", outputs="v")
    assert (linear.states, linear.inputs, linear.outputs) == (["c.q"], ["supply.e"], ["v"])
    np.testing.assert_allclose(linear.A, [[-10.0]], rtol=1e-12)
    # dv/dt = (E - v)/RC
    np.testing.assert_allclose(linear.C @ linear.B, [[10.0]], rtol=1e-12)
    pole = linear.poles().facts
    assert "-10" in repr(linear.poles()) and pole
    step = linear.step(0.5)
    curve = next(iter(step.curves.values()))
    np.testing.assert_allclose(curve, 1 - np.exp(-step.time / 0.1), atol=1e-6)
    assert linear.bode(1, 100)._repr_svg_().startswith("<svg")
    assert linear._repr_latex_().startswith("$$")


def test_a_linear_model_is_a_state_space_of_python_control(rc):
    control = pytest.importorskip("control")
    system = rc.linearize(inputs="supply.e", outputs="v").to_control()
    assert isinstance(system, control.StateSpace)
    assert complex(system(1j)) == pytest.approx(1 / (1 + 0.1j), rel=1e-9)


def test_a_resistor_is_estimated_from_data():
    m = paynter.model(
        "model M { drive: Se(sin(3*time)) -> v: 1 -> m: I(2), b: R(0.7), s: C(0.5) }\n"
        "experiment e of M { stop = 10; output_step = 0.05; rtol = 1e-11; record v.f }"
    )
    data = m.run()
    wrong = paynter.model(m.text().replace("R(0.7)", "R(2)"))
    found = wrong.structure("estimate", inputs="drive.e", outputs="v.f", estimate="b", data=data)
    assert found.facts["estimates"][0]["value"] == pytest.approx(0.7, rel=1e-3)
    assert found.table.names == ["b.e", "b.f"]
    assert "Faults" in data.report(structure=True)
    with pytest.raises(paynter.CallError):
        wrong.structure("estimate", outputs="v.f")


def test_the_structure_is_told(rc):
    found = rc.structure()
    assert found.text and found.facts


def test_a_model_survives_a_pickle(rc):
    m = pickle.loads(pickle.dumps(rc.set(R1=5)))
    assert m.parameters["R1"] == 5 and m == rc.set(R1=5)


def test_a_clean_file_checks_true(rc):
    assert rc.check() and repr(rc.check()) == "no errors found"
    assert rc.format().format().text() == rc.format().text()


@pytest.mark.parametrize(
    "text, line",
    [
        ("model M {\n s: Se(1) -> j: 1 -> r: R(2) ", None),
        ("model M {\n a: Se(1) -> n: 0\n b: Se(2) -> n }", 3),
        ("model M {\n s: Se(1) -> j: 1 -> r: R(x) }", 2),
        ("model M {\n s: Se(1) -> j: 7\n}", 2),
        ("", None),
    ],
)
def test_errors_are_exceptions_with_code_and_place(text, line):
    with pytest.raises(paynter.ModelError) as caught:
        paynter.model(text, name="m.bond").run()
    error = caught.value
    assert error.code.startswith("E") and error.messages[0]["code"] == error.code
    assert str(error).startswith(f"error[{error.code}]")
    if line is not None:
        assert error.line == line and error.file.endswith("m.bond")
    assert pickle.loads(pickle.dumps(error)).code == error.code


WRONG_CALLS = [
    (lambda m: m.equations(form="nonsense"), paynter.CallError, "state, dae"),
    (lambda m: m.diagram("bmp"), paynter.CallError, "svg, png"),
    (lambda m: m.diagram(parts="shut"), paynter.CallError, "auto, open or closed"),
    (lambda m: m.diagram("pdf", frames=True), paynter.CallError, "frames"),
    (lambda m: m.diagram(power="soon"), paynter.CallError, "soon"),
    (lambda m: m.run("chargee"), paynter.PaynterError, "chargee"),
    (lambda m: m.run(engine="steam"), paynter.CallError, "auto, interpreter or jit"),
    (lambda m: m.run(engin="jit"), paynter.CallError, "did you mean 'engine'"),
    (lambda m: m.run(zzz=1), paynter.CallError, "it takes experiment"),
    (lambda m: m.run(3), TypeError, "experiment is a name"),
    (lambda m: m.run(progress=3), TypeError, "progress"),
    (lambda m: m.run(times=[1, 0]), paynter.CallError, "not a time of the run"),
    (lambda m: m.run(times=[0.2, 0.1]), paynter.CallError, "rise"),
    (lambda m: m.run(times=[0, float("nan")]), paynter.CallError, "NaN"),
    (lambda m: m.run(times="now"), TypeError, "times"),
    (lambda m: m.run(times=[[0, 1]]), TypeError, "times"),
    (lambda m: m.set(nobody=1).run(), paynter.ModelError, "nobody"),
    (lambda m: m.set(R1=object()), TypeError, "is not a value"),
    (lambda m: m.set(R1=float("inf")), paynter.CallError, "finite"),
    (lambda m: m.set(R1="1 [m]").run(), paynter.ModelError, "R1"),
    (lambda m: m.set(R1="] nonsense").run(), paynter.ModelError, ""),
    (lambda m: m.set({1: 2}), TypeError, "text"),
    (lambda m: m.set([1]), TypeError, "mapping"),
    (lambda m: m.linearize(at=-1), paynter.CallError, "not a time"),
    (lambda m: m.linearize(at="soon"), TypeError, "number"),
    (lambda m: m.linearize(inputs=3), TypeError, "inputs"),
    (lambda m: m.linearize(outputs="nobody"), paynter.ModelError, "nobody"),
    (lambda m: m.linearize().bode(1), paynter.CallError, "both"),
    (lambda m: m.linearize().bode(2, 1), paynter.CallError, "below"),
    (lambda m: m.linearize().step(-1), paynter.CallError, "positive"),
    (lambda m: paynter.load("nowhere.bond"), paynter.CallError, "no such file"),
    (lambda m: paynter.load("."), paynter.CallError, "folder"),
    (lambda m: paynter.load(3), TypeError, "path"),
    (lambda m: paynter.model(42), TypeError, "text"),
    (lambda m: paynter.gallery("gyroscop"), paynter.CallError, "did you mean 'gyroscope'"),
    (lambda m: paynter.explain("E9999"), paynter.CallError, "E9999"),
    (lambda m: paynter.read("nowhere.csv"), paynter.CallError, "no such file"),
]


@pytest.mark.parametrize("call, kind, words", WRONG_CALLS)
def test_wrong_calls_say_what_is_wrong(rc, call, kind, words):
    with pytest.raises(kind) as caught:
        call(rc)
    assert words in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "m.bond"
    path.write_bytes(b"model \xff\xfe")
    with pytest.raises(paynter.CallError, match="UTF-8"):
        paynter.load(path)


def test_a_code_is_explained():
    assert paynter.explain("E0741").startswith("E0741")


def test_a_model_of_two_files_finds_the_other_one(tmp_path):
    (tmp_path / "load.bond").write_text("model Load { port p: electrical = n; n: 0 -> r: R(2) }")
    (tmp_path / "m.bond").write_text(
        'use "load.bond": Load\nmodel M { s: Se(10) -> j: 1 -> i: I(1); load: Load(); j -> load.p }'
    )
    assert paynter.load(tmp_path / "m.bond").causality().order == 1
    assert RC
