//! Graph to graph on the canvas: simplify, scalarize, reduce and minimal as one change of the text, which one undo takes back.
//!
//! In:  the texts, a model and what is to be done with it.
//! Out: the change, and what was done in words; or why it was not.
//!
//! **Invariant:** a text whose proof fails is not handed out.

use crate::changes::difference;
use crate::study::words;
use crate::wire::{Rewriting, TextChange};
use crate::world::World;
use paynter::DesignError;
use paynter_rewrite::{Reduction, Rewritten, Wish, minimal, reduce, scalarize, simplify};

/// What a rewriting gives.
pub struct Rewrote {
    /// At most one.
    pub changes: Vec<TextChange>,
    /// What was done, and the proof, in words.
    pub said: Vec<String>,
}

/// Rewrites a model; `old` is the text at `path`.
///
/// # Errors
///
/// Why it cannot be done, in words.
pub fn rewrite(
    world: &mut World,
    (path, old): (&str, &str),
    model: &str,
    how: Rewriting,
) -> Result<Rewrote, String> {
    let wish = Wish {
        model: Some(model.to_owned()),
        experiment: None,
    };
    let found = match how {
        Rewriting::Simplify => simplify(world, path, &wish, &[]),
        Rewriting::Scalarize => scalarize(world, path, &wish),
        Rewriting::Reduce => reduce(world, path, &wish, &Reduction::default()),
        Rewriting::Minimal => minimal(world, path, &wish, &[]),
    };
    let found = found.map_err(|error| match error {
        DesignError::Unreadable(why) => why,
        DesignError::Model(failed) => words(&failed.diagnostics),
    })?;
    if let Some(failed) = found.failed() {
        return Err(words(&failed.diagnostics));
    }
    if found.steps.is_empty() {
        return Err(nothing(&found));
    }
    let change = difference(old, &plain(&found));
    let changes = change.map(|(from, to, insert)| TextChange { from, to, insert });
    Ok(Rewrote {
        changes: changes.into_iter().collect(),
        said: found.lines(),
    })
}

/// Why nothing was done.
fn nothing(found: &Rewritten) -> String {
    match found.refused.first() {
        Some(why) => format!("nothing was changed: {why}"),
        None => "nothing to do: no rule applies".to_owned(),
    }
}

/// The text without the lines at its end that say what was done.
fn plain(found: &Rewritten) -> String {
    let told = found.lines();
    let mut lines: Vec<&str> = found.text.lines().collect();
    for line in told.iter().rev() {
        if lines.last().and_then(|l| l.strip_prefix("// ")) == Some(line) {
            lines.pop();
        }
    }
    let mut text = lines.join("\n").trim_end().to_owned();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::world;
    use std::path::PathBuf;

    const MOTOR: &str = "model Motor {\n    coil: 1 -> ra: R(2)\n    supply: Se(1) -> coil -> GY(0.5) -> rotor: 1 -> jm: I(0.02)\n    rotor -> shaft: 1 -> jl: I(0.03)\n}\nexperiment go of Motor { stop = 1 [s]; record shaft.f as w }\n";

    fn changed(text: &str, how: Rewriting) -> Result<(String, Vec<String>), String> {
        let root = std::env::temp_dir();
        let path = root.join("rewrite-me.bond").display().to_string();
        let mut world = world(PathBuf::from(&root), [(path.clone(), text.to_owned())]);
        let edited = rewrite(&mut world, (&path, text), "Motor", how)?;
        let mut units: Vec<u16> = text.encode_utf16().collect();
        for change in edited.changes.iter().rev() {
            units.splice(change.from..change.to, change.insert.encode_utf16());
        }
        Ok((String::from_utf16_lossy(&units), edited.said))
    }

    #[test]
    fn simplify_is_one_change_and_says_what_it_did() {
        let (text, said) =
            changed(MOTOR, Rewriting::Simplify).expect("the rotor goes into the shaft");
        assert!(
            text.contains("I(0.05)") || text.contains("I(0.02 + 0.03)"),
            "{text}"
        );
        assert!(
            !text.contains("// proof") && !text.contains("// map"),
            "{text}"
        );
        assert!(said.iter().any(|l| l.starts_with("merge:")), "{said:?}");
        assert!(
            said.iter()
                .any(|l| l.starts_with("proof: ") && l.contains("are equal")),
            "{said:?}"
        );
        // There is nothing left to do then.
        let why = changed(&text, Rewriting::Simplify).expect_err("it is simple");
        assert!(why.contains("nothing"), "{why}");
    }

    #[test]
    fn what_does_not_apply_changes_nothing() {
        let why = changed(MOTOR, Rewriting::Reduce).expect_err("no momentum is conserved");
        assert!(why.contains("nothing"), "{why}");
        let wrong = MOTOR.replace("rotor: 1", "rotor: 2");
        assert!(changed(&wrong, Rewriting::Simplify).is_err());
    }
}
