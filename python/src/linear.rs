//! A linear model: matrices, poles and responses, each as text and as JSON.

use crate::columns::Table;
use crate::errors::{CallError, model_error, run_error, unknown};
use paynter::control::{
    ControlError, Gains, Weights, gains_to_json, gains_to_text, in_steps, placed, regulator,
    steps_to_json, steps_to_text,
};
use paynter::linear::{self, LinearError, Linearization};
use paynter::linear_algebra::{Complex, Rule};
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
}

#[pymethods]
impl Linear {
    /// For reading.
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

    /// Poles, modes and zeros: text and JSON.
    fn poles(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let found = py.detach(|| linear::poles(&self.design, &self.inner));
        let table = found.map_err(|e| self.wrong(py, e))?;
        let json = linear::poles_to_json(&self.inner, &table).to_string();
        Ok((linear::poles_to_text(&self.inner, &table), json))
    }

    /// Frequency responses between two frequencies in rad/s: text, JSON, SVG.
    fn bode(
        &self,
        py: Python<'_>,
        range: Option<(f64, f64)>,
    ) -> PyResult<(String, String, String)> {
        if let Some((low, high)) = range
            && !(low > 0.0 && high > low && high.is_finite())
        {
            return Err(CallError::new_err(
                "frequencies must be positive, and low below high",
            ));
        }
        self.needs_channel()?;
        let found = py.detach(|| linear::bode(&self.design, &self.inner, range));
        let bode = found.map_err(|e| self.wrong(py, e))?;
        let json = bode.to_json(&self.inner).to_string();
        let plot = bode.plot(self.title()).to_svg();
        Ok((bode.to_text(&self.inner), json, plot))
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
        let found = py.detach(|| regulator(&self.inner, &weights));
        self.gains(found)
    }

    /// Feedback gains that give these poles, 1/s: text and JSON.
    fn place(&self, py: Python<'_>, poles: Vec<(f64, f64)>) -> PyResult<(String, String)> {
        let poles: Vec<Complex> = poles.iter().map(|p| Complex::new(p.0, p.1)).collect();
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
            other => return Err(unknown("method", other, "zoh or tustin")),
        };
        let model = py.detach(|| in_steps(&self.inner, step, rule));
        let model = model.map_err(no_controller)?;
        let json = steps_to_json(&self.inner, &model, step).to_string();
        Ok((steps_to_text(&self.inner, &model, step), json))
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
