//! What the commands about linear models share: where the model is linearized, and between what.

use crate::ModelArgs;
use crate::console::{call_error, choice, open, refuse, show};
use clap::Args;
use paynter::linear::{
    LinearError, LinearRequest, Linearization, Sampled, linear_request, linearize,
};
use paynter::{Design, LinearChoice};

/// Between what, and where.
#[derive(Args, Clone, Debug)]
pub struct LinearArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Inputs, comma-separated: `input`s, signals, what sources set (`supply.e`)
    #[arg(long, value_name = "NAMES")]
    pub from: Option<String>,
    /// Outputs, comma-separated: anything that can be recorded
    #[arg(long, value_name = "NAMES")]
    pub to: Option<String>,
    /// Linearize at this time of the run, s; default: at its start
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub at: Option<f64>,
    /// Open the loops through the inputs: what defines them is held constant
    #[arg(long)]
    pub open: bool,
    /// The gain to use for quantisers of sampled blocks; without it a path through them is refused
    #[arg(long, value_name = "GAIN", allow_negative_numbers = true)]
    pub quantiser_gain: Option<f64>,
}

impl LinearArgs {
    /// Opens the model with what is asked of it; `cut` names signals at which loops are cut.
    ///
    /// # Errors
    ///
    /// The exit status, after the messages were shown.
    pub fn open(&self, cut: Option<&str>) -> Result<(Design, LinearRequest), u8> {
        self.open_with(LinearChoice {
            cut: cut.map(str::to_owned),
            ..LinearChoice::default()
        })
    }

    /// Opens the model with what is asked of it beside inputs and outputs.
    ///
    /// # Errors
    ///
    /// As for [`LinearArgs::open`].
    pub fn open_with(&self, asked: LinearChoice) -> Result<(Design, LinearRequest), u8> {
        let mut choice = choice(&self.model).map_err(call_error)?;
        choice.linear = Some(LinearChoice {
            from: self.from.clone(),
            to: self.to.clone(),
            quantiser_gain: self.quantiser_gain,
            ..asked
        });
        if self.quantiser_gain.is_some_and(|g| !g.is_finite()) {
            return Err(call_error("`--quantiser-gain` takes a finite number"));
        }
        let design = open(&self.model, &choice)?;
        if let Some(at) = self.at
            && !(at.is_finite() && at >= design.plan.start)
        {
            let start = design.plan.start;
            return Err(call_error(format!(
                "`--at {at}` is not a time of the run, which starts at {start} s"
            )));
        }
        let request = linear_request(&design, self.at, self.open);
        Ok((design, request))
    }

    /// Makes the linear model.
    ///
    /// # Errors
    ///
    /// The exit status, after the messages were shown.
    pub fn linearize(&self) -> Result<(Design, Linearization), u8> {
        let (design, request) = self.open(None)?;
        self.linearize_as(design, &request)
    }

    /// Makes a continuous linear model: paths through sampled blocks are refused.
    ///
    /// # Errors
    ///
    /// As for [`LinearArgs::linearize`].
    pub fn linearize_continuous(&self) -> Result<(Design, Linearization), u8> {
        let (design, mut request) = self.open(None)?;
        request.sampled = Sampled::Refused;
        self.linearize_as(design, &request)
    }

    fn linearize_as(
        &self,
        design: Design,
        request: &LinearRequest,
    ) -> Result<(Design, Linearization), u8> {
        let linear = design
            .compile()
            .map_err(LinearError::Model)
            .and_then(|compiled| linearize(&design, &compiled, request))
            .map_err(|e| refuse(&design, e, self.model.json))?;
        warn(&design, &linear, self.model.json);
        Ok((design, linear))
    }
}

/// Tells whether a linear model has an input and an output.
///
/// # Errors
///
/// The exit status, after the message was shown.
pub fn needs_channel(linear: &Linearization) -> Result<(), u8> {
    if linear.inputs.is_empty() {
        return Err(call_error(
            "the model has no inputs and no sources; name one with `--from`",
        ));
    }
    if linear.outputs.is_empty() {
        return Err(call_error("name an output with `--to`"));
    }
    Ok(())
}

/// Shows what is to be known about a linear model.
pub fn warn(design: &Design, linear: &Linearization, json: bool) {
    if !json {
        show(&design.failed(linear.warnings.clone()), false);
    }
}
