//! `paynter simplify`: the same model with fewer junctions and elements, and the proof that it is the same.

use crate::commands::outputs::Outputs;
use crate::console::{MODEL_WRONG, OK, call_error, show};
use clap::Args;
use paynter::DesignError;
use paynter::loader::DiskLoader;
use paynter_rewrite::{RULES, Rewritten, Wish};
use std::path::PathBuf;

/// Which model, and where the text goes.
#[derive(Args)]
pub struct RewriteArgs {
    /// The model file (.bond)
    pub file: PathBuf,
    /// The model to rewrite; default: that of the first experiment
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Write the text to this file
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which rules.
#[derive(Args)]
pub struct SimplifyArgs {
    #[command(flatten)]
    rewrite: RewriteArgs,
    /// Apply this rule only: zero, idle, ring, merge, junction, chain, over, motor, parallel (may be repeated)
    #[arg(long, value_name = "RULE")]
    only: Vec<String>,
}

/// Simplifies a model.
pub fn simplify(args: &SimplifyArgs) -> u8 {
    let known: Vec<&str> = RULES.iter().map(|r| r.0).collect();
    if let Some(unknown) = args.only.iter().find(|o| !known.contains(&o.as_str())) {
        return call_error(format!(
            "there is no rule `{unknown}`; the rules are {}",
            known.join(", ")
        ));
    }
    rewriting(&args.rewrite, |loader, path, wish| {
        paynter_rewrite::simplify(loader, path, wish, &args.only)
    })
}

/// Carries out a rewriting and shows or writes its text.
pub fn rewriting(
    args: &RewriteArgs,
    call: impl FnOnce(&mut DiskLoader, &str, &Wish) -> Result<Rewritten, DesignError>,
) -> u8 {
    let outputs = Outputs::beside([args.file.as_path()]);
    if let Some(path) = &args.out
        && let Err(message) = outputs.check(path, &["bond"])
    {
        return call_error(message);
    }

    let wish = Wish {
        model: args.model.clone(),
        experiment: None,
    };
    let path = args.file.display().to_string();
    let written = match call(&mut DiskLoader::default(), &path, &wish) {
        Ok(written) => written,
        Err(DesignError::Unreadable(message)) => return call_error(message),
        Err(DesignError::Model(failed)) => {
            show(&failed, args.json);
            return MODEL_WRONG;
        }
    };

    if let Some(path) = &args.out
        && written.holds()
        && let Err(message) = outputs.write(path, written.text.as_bytes())
    {
        return call_error(message);
    }

    match (args.json, &args.out) {
        (true, _) => crate::say!("{}", to_json(&written)),
        (false, Some(_)) => written.lines().iter().for_each(|l| crate::say!("{l}")),
        (false, None) => crate::say!("{}", written.text.trim_end()),
    }

    if written.proof.is_none() && args.out.is_none() && !args.json {
        written.lines().iter().for_each(|l| crate::tell!("{l}"));
    }
    let Some(failed) = written.failed() else {
        return OK;
    };

    // As JSON, the proof says it.
    if !args.json {
        show(&failed, false);
    }
    MODEL_WRONG
}

fn to_json(written: &Rewritten) -> String {
    let steps = written.steps.iter();
    let steps: Vec<_> = steps
        .map(|s| serde_json::json!({ "rule": s.rule, "text": s.text }))
        .collect();
    let map = written.map.iter();
    let map: serde_json::Map<String, serde_json::Value> = map
        .map(|(old, new)| (old.clone(), new.clone().into()))
        .collect();
    let proof = written.proof.as_ref().map(|p| {
        serde_json::json!({ "holds": p.holds(), "points": p.n_points, "runs": p.runs, "largest": p.largest, "line": p.line() })
    });
    let value = serde_json::json!({
        "model": written.model, "steps": steps, "map": map, "refused": written.refused,
        "proof": proof, "text": written.text,
    });
    value.to_string()
}
