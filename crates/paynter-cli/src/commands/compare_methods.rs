//! `paynter compare-methods`: one model under every treatment of its locks.

use crate::console::{MODEL_WRONG, OK, RUN_FAILED, design, interruption, show};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::Design;
use paynter::methods::{MethodRun, all_methods, compare_methods as compare, to_json, to_text};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// Which experiment.
#[derive(Args)]
pub struct CompareMethodsArgs {
    #[command(flatten)]
    model: ModelArgs,
}

/// Runs all methods and prints their figures.
pub fn compare_methods(args: &CompareMethodsArgs) -> u8 {
    let json = args.model.json;
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let is_interrupted = interruption();
    let methods = all_methods(&design);
    let runs = compare(&design, &methods, &mut |_| {
        if is_interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    if json {
        say!("{}", to_json(&design, &runs));
    } else {
        say!("{}", to_text(&design, &runs).trim_end());
    }
    status(&design, &runs, json)
}

/// 0 if all runs reached their end; else the first failure decides.
fn status(design: &Design, runs: &[MethodRun], json: bool) -> u8 {
    let mut status = OK;
    for run in runs {
        match &run.result {
            Err(messages) => {
                if !json {
                    show(&design.failed(messages.clone()), json);
                }
                return MODEL_WRONG;
            }
            Ok(result) if result.failure.is_some() => status = RUN_FAILED,
            Ok(_) => {}
        }
    }
    status
}
