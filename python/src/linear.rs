//! A linear model: matrices, poles, responses, controllers and observers, each as text and as JSON.

use crate::columns::Table;
use crate::errors::{CallError, model_error, run_error, unknown};
use paynter::control::{
    ControlError, Gains, Weights, continuous, gains_to_json, gains_to_text, in_steps,
    integral_regulator, matrices_to_text, placed, regulator, steps_to_json, steps_to_text,
};
use paynter::linear::{self, LinearError, LinearRequest, Linearization, Sampled};
use paynter::linear_algebra::{Complex, Rule};
use paynter::noise::{
    Noise, estimator, estimator_to_json, estimator_to_text, spread, spread_to_json, spread_to_text,
};
use paynter::syntax::render;
use pyo3::prelude::*;
use std::sync::Arc;

/// A linear model at a point.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Linear {
    /// Of what.
    pub design: Arc<paynter::Design>,
    /// The linear model.
    pub inner: Linearization,
    /// Between what it was made, and where.
    pub ask: LinearRequest,
}

#[pymethods]
impl Linear {
    /// Plain text.
    #[getter]
    fn text(&self) -> String {
        linear::to_text(&self.inner)
    }

    /// Matrices, names and units.
    #[getter]
    fn json(&self) -> String {
        linear::to_json(&self.inner).to_string()
    }

    /// What is to be known about it, rendered.
    #[getter]
    fn warnings(&self) -> String {
        render(&self.inner.warnings, &self.design.project.sources, false)
    }

    /// The matrices as the text of a CSV file.
    #[getter]
    fn csv(&self) -> String {
        linear::to_csv(&self.inner)
    }

    /// Poles, modes and zeros: text, JSON, and where they lie as SVG.
    fn poles(&self, py: Python<'_>) -> PyResult<(String, String, String)> {
        let found = py.detach(|| linear::poles(&self.design, &self.inner));
        let table = found.map_err(|e| self.wrong(py, e))?;
        let json = linear::poles_to_json(&self.inner, &table).to_string();
        let map = linear::pole_map(&self.inner, &table, self.title()).to_svg();
        Ok((linear::poles_to_text(&self.inner, &table), json, map))
    }

    /// Transfer functions of all channels: text and JSON.
    fn transfers(&self, py: Python<'_>) -> PyResult<(String, String)> {
        self.needs_channel()?;
        let found = py.detach(|| linear::transfers(&self.design, &self.inner));
        let found = found.map_err(|e| self.wrong(py, e))?;
        let json = linear::transfers_to_json(&self.inner, &found).to_string();
        Ok((linear::transfers_to_text(&self.inner, &found), json))
    }

    /// Frequency responses between two frequencies in rad/s, beside those of other models by name: text, JSON, SVG, CSV.
    fn bode(
        &self,
        py: Python<'_>,
        range: Option<(f64, f64)>,
        also: Vec<(String, PyRef<'_, Linear>)>,
    ) -> PyResult<(String, String, String, String)> {
        if let Some((low, high)) = range
            && !(low > 0.0 && high > low && high.is_finite())
        {
            return Err(CallError::new_err(
                "frequencies must be positive, and low below high",
            ));
        }
        self.needs_channel()?;
        let found = py.detach(|| linear::bode(&self.design, &self.inner, range));
        let mut bode = found.map_err(|e| self.wrong(py, e))?;
        if !also.is_empty() {
            bode.call_after(self.title());
        }
        for (name, other) in also {
            other.needs_channel()?;
            let (design, inner) = (&other.design, &other.inner);
            let found = py.detach(|| linear::bode(design, inner, range));
            let mut found = found.map_err(|e| other.wrong(py, e))?;
            found.call_after(&name);
            bode.channels.extend(found.channels);
        }
        let json = bode.to_json(&self.inner).to_string();
        let plot = bode.plot(self.title()).to_svg();
        Ok((bode.to_text(&self.inner), json, plot, bode.to_csv()))
    }

    /// Optimal feedback gains: text and JSON.
    fn lqr(
        &self,
        py: Python<'_>,
        states: Option<Vec<f64>>,
        inputs: Option<Vec<f64>>,
        step: Option<f64>,
    ) -> PyResult<(String, String)> {
        let weights = Weights {
            states,
            inputs,
            step,
        };
        self.needs_continuous(py)?;
        let found = py.detach(|| regulator(&self.inner, &weights));
        self.gains(found)
    }

    /// Optimal feedback gains with integrals of what outputs miss: text and JSON.
    fn lqi(
        &self,
        py: Python<'_>,
        states: Option<Vec<f64>>,
        inputs: Option<Vec<f64>>,
        step: Option<f64>,
    ) -> PyResult<(String, String)> {
        let weights = Weights {
            states,
            inputs,
            step,
        };
        self.needs_continuous(py)?;
        let found = py.detach(|| integral_regulator(&self.inner, &weights));
        self.gains(found)
    }

    /// A Kalman filter for noise at inputs and outputs: text and JSON.
    fn lqe(
        &self,
        py: Python<'_>,
        inputs: Option<Vec<f64>>,
        outputs: Option<Vec<f64>>,
        step: Option<f64>,
    ) -> PyResult<(String, String)> {
        let noise = Noise {
            inputs,
            outputs,
            step,
        };
        self.needs_continuous(py)?;
        let found = py.detach(|| estimator(&self.inner, &noise));
        let found = found.map_err(no_controller)?;
        let json = estimator_to_json(&self.inner, &found).to_string();
        Ok((estimator_to_text(&self.inner, &found), json))
    }

    /// How far noise at the inputs moves states and outputs: text and JSON.
    fn lyap(&self, py: Python<'_>, inputs: Option<Vec<f64>>) -> PyResult<(String, String)> {
        self.needs_continuous(py)?;
        let found = py.detach(|| spread(&self.inner, inputs.as_ref()));
        let found = found.map_err(no_controller)?;
        let json = spread_to_json(&self.inner, &found).to_string();
        Ok((spread_to_text(&self.inner, &found), json))
    }

    /// Feedback gains that give these poles, 1/s: text and JSON.
    fn place(&self, py: Python<'_>, poles: Vec<(f64, f64)>) -> PyResult<(String, String)> {
        let poles: Vec<Complex> = poles.iter().map(|p| Complex::new(p.0, p.1)).collect();
        self.needs_continuous(py)?;
        let found = py.detach(|| placed(&self.inner, &poles));
        self.gains(found)
    }

    /// The model in steps: text and JSON; held inputs, or the trapezoidal rule, exact at a frequency in rad/s.
    fn c2d(
        &self,
        py: Python<'_>,
        step: f64,
        method: &str,
        at_frequency: Option<f64>,
    ) -> PyResult<(String, String)> {
        let rule = match method {
            "zoh" if at_frequency.is_some() => {
                let message = "at_frequency belongs to method=\"tustin\"";
                return Err(CallError::new_err(message));
            }
            "zoh" => Rule::Hold,
            "tustin" => Rule::Tustin(at_frequency),
            "matched" => {
                let message = "method=\"matched\" gives transfer functions: call matched(step)";
                return Err(CallError::new_err(message));
            }
            other => return Err(unknown("method", other, "zoh or tustin")),
        };
        self.needs_continuous(py)?;
        let model = py.detach(|| in_steps(&self.inner, step, rule));
        let model = model.map_err(no_controller)?;
        let json = steps_to_json(&self.inner, &model, step).to_string();
        Ok((steps_to_text(&self.inner, &model, step), json))
    }

    /// Transfer functions in steps, poles and zeros at their places: text and JSON.
    fn matched(&self, py: Python<'_>, step: f64) -> PyResult<(String, String)> {
        self.needs_continuous(py)?;
        self.needs_channel()?;
        let found = py.detach(|| linear::matched_transfers(&self.design, &self.inner, step));
        let Some(found) = found.map_err(|e| self.wrong(py, e))? else {
            return Err(CallError::new_err(
                "the step must be positive, and the gain at rest or beside it finite",
            ));
        };
        let mut json = linear::transfers_to_json(&self.inner, &found);
        json["step"] = step.into();
        let text = linear::transfers_in(&self.inner, &found, "z");
        Ok((text, json.to_string()))
    }

    /// The continuous model of a sampled loop: text and JSON.
    fn d2c(&self, py: Python<'_>, method: &str) -> PyResult<(String, String)> {
        let rule = match method {
            "zoh" => Rule::Hold,
            "tustin" => Rule::Tustin(None),
            other => return Err(unknown("method", other, "zoh or tustin")),
        };
        let found = py.detach(|| continuous(&self.inner, rule));
        let (model, step) = found.map_err(no_controller)?;
        let form = "der(x) = A x + B u, y = C x + D u";
        let text = matrices_to_text(&self.inner, &model, form);
        Ok((text, steps_to_json(&self.inner, &model, step).to_string()))
    }

    /// Step responses over a time in s: text, JSON, SVG, curves.
    fn step(
        &self,
        py: Python<'_>,
        horizon: Option<f64>,
    ) -> PyResult<(String, String, String, Table)> {
        if horizon.is_some_and(|t| !(t > 0.0 && t.is_finite())) {
            return Err(CallError::new_err("duration takes a positive time in s"));
        }
        self.needs_channel()?;
        let found = py.detach(|| linear::steps(&self.design, &self.inner, horizon));
        let steps = found.map_err(|e| self.wrong(py, e))?;
        Ok((
            steps.to_text(&self.inner),
            steps.to_json(&self.inner).to_string(),
            steps.plot(self.title()).to_svg(),
            Table::alone(steps.table()),
        ))
    }
}

/// The options of the command line have other names here.
fn no_controller(error: ControlError) -> PyErr {
    let text = error.to_string();
    CallError::new_err(
        text.replace("`--from`", "`inputs=`")
            .replace("`--to`", "`outputs=`")
            .replace("--r ", "r ")
            .replace("--q ", "q "),
    )
}

impl Linear {
    fn gains(&self, found: Result<Gains, ControlError>) -> PyResult<(String, String)> {
        let gains = found.map_err(no_controller)?;
        let json = gains_to_json(&self.inner, &gains).to_string();
        Ok((gains_to_text(&self.inner, &gains), json))
    }

    /// Refuses a model in steps, in the words of the command line: where the path goes through a sampled block.
    fn needs_continuous(&self, py: Python<'_>) -> PyResult<()> {
        if self.inner.sampled.is_none() {
            return Ok(());
        }
        let design = &self.design;
        let ask = LinearRequest {
            sampled: Sampled::Refused,
            ..self.ask.clone()
        };
        let found = py.detach(|| {
            let compiled = design.compile().map_err(LinearError::Model)?;
            linear::linearize(design, &compiled, &ask)
        });
        match found {
            Err(error) => Err(self.wrong(py, error)),
            Ok(_) => Err(CallError::new_err(
                "the model is one in steps; its sampled blocks stand between inputs and outputs",
            )),
        }
    }

    fn title(&self) -> &str {
        let name = self.design.plan.name.as_ref();
        name.unwrap_or(&self.design.model)
    }

    fn needs_channel(&self) -> PyResult<()> {
        if self.inner.inputs.is_empty() {
            return Err(CallError::new_err(
                "the model has no inputs and no sources; name one with inputs=",
            ));
        }
        if self.inner.outputs.is_empty() {
            return Err(CallError::new_err("name an output with outputs="));
        }
        Ok(())
    }

    fn wrong(&self, py: Python<'_>, error: LinearError) -> PyErr {
        let sources = &self.design.project.sources;
        match error {
            LinearError::Model(messages) => model_error(py, &messages, sources),
            LinearError::Run(messages) => run_error(py, &messages, sources),
        }
    }
}
