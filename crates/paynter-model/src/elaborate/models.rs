//! What a kind means: an element, or a model with everything it extends.
//!
//! In:  the path after a `:` or `extends`, and the file it is in.
//! Out: an element kind, or a model and its [`Lineage`]; else one message that guesses what was meant.
//!
//! **Invariant:** a lineage is finite, itself first, and made once for each model.

use paynter_syntax::{Diagnostic, ast};
use rustc_hash::FxHashSet;
use std::sync::Arc;

use super::tables::{Level, Lineage};
use super::{Elaborator, Item, code};
use crate::graph::ElementKind;
use crate::suggest::nearest;

/// Models above each other by `extends`. Each is read again for every part, and people lose track
/// much earlier.
const MAX_LEVELS: usize = 64;

/// What comes after a colon.
pub(super) enum Made<'a> {
    Element(ElementKind),
    Model(&'a ast::Model, u32),
}

impl<'a> Elaborator<'a> {
    /// Lists a model and those it extends, the model itself first.
    pub(super) fn lineage(&mut self, model: &'a ast::Model, file: u32) -> Option<Arc<Lineage<'a>>> {
        if let Some(known) = self.texts.lineages.get(&model.name.span) {
            return known.clone();
        }
        let made = self.make_lineage(model, file).map(Arc::new);
        self.texts.lineages.insert(model.name.span, made.clone());
        made
    }

    fn make_lineage(&mut self, model: &'a ast::Model, file: u32) -> Option<Lineage<'a>> {
        let mut levels: Vec<Level<'a>> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut next = Some((model, file));
        while let Some((model, file)) = next {
            if !seen.insert(model.name.span) {
                report!(self, code::RECURSION, model.name.span, "`{}` extends itself", model.name.text;
                    "comes back to this model");
                return None;
            }
            if levels.len() > MAX_LEVELS {
                let span = levels[0].model.name.span;
                report!(self, code::RECURSION, span, "a model extends more than {MAX_LEVELS} others";
                    "one extends the other in turn";
                    help: "let a part do what the models above have in common");
                return None;
            }
            levels.push(Level {
                model,
                file,
                extends_args: &[],
            });
            next = match &model.extends {
                None => None,
                Some(base) => {
                    let found = self.find_model(&base.path, file)?;
                    levels.last_mut().expect("just pushed").extends_args = &base.args;
                    Some(found)
                }
            };
        }
        Some(Lineage { levels })
    }

    /// Finds a model by the name after a colon, `extends` or `of`.
    pub(super) fn find_model(
        &mut self,
        path: &'a ast::Path,
        file: u32,
    ) -> Option<(&'a ast::Model, u32)> {
        match self.texts.find_item(path, file) {
            Some(Item::Model(model, file)) => Some((model, file)),
            Some(Item::Missing(_)) => None,
            found => {
                self.report_no_model(path, file, found.is_some(), false);
                None
            }
        }
    }

    /// Reports a name that is not a model, and where an element may occur too, no element.
    fn report_no_model(
        &mut self,
        path: &'a ast::Path,
        file: u32,
        is_other: bool,
        may_be_element: bool,
    ) {
        let Some(last) = path.segments.last() else {
            return;
        };
        let names = &self.texts.files[file as usize].names;
        let models = names
            .iter()
            .filter(|(_, item)| matches!(item, Item::Model(..)))
            .map(|(name, _)| *name);
        let mut known: Vec<&str> = models.collect();
        known.sort_unstable();

        self.report.add(code::UNKNOWN_MODEL, path.span, || {
            let headline = match may_be_element {
                true => format!("there is no model or element `{}`", last.text),
                false => format!("there is no model `{}`", last.text),
            };
            let label = match is_other {
                true => "is not a model",
                false => "not found",
            };
            let message =
                Diagnostic::error(code::UNKNOWN_MODEL, headline).primary(path.span, label);
            help_with_kind(message, &last.text, known, may_be_element)
        });
    }

    /// Finds an element by its letters.
    pub(super) fn element_kind(&self, path: &ast::Path) -> Option<ElementKind> {
        let [only] = path.segments.as_slice() else {
            return None;
        };
        ElementKind::called(&only.text)
    }

    /// Finds what comes after a colon; only elements have a law in braces.
    pub(super) fn made(
        &mut self,
        path: &'a ast::Path,
        file: u32,
        has_law: bool,
    ) -> Option<Made<'a>> {
        // A model called like an element was reported, or may be called so; where it is, it is meant.
        match (self.texts.find_item(path, file), self.element_kind(path)) {
            (_, Some(kind)) if has_law && kind.describe().yields_to_models => {
                Some(Made::Element(kind))
            }
            (Some(Item::Model(model, file)), _) => Some(Made::Model(model, file)),
            (Some(Item::Missing(_)), kind)
                if kind.is_none_or(|k| k.describe().yields_to_models) =>
            {
                None
            }
            (_, Some(kind)) => Some(Made::Element(kind)),
            (found, None) => {
                self.report_no_model(path, file, found.is_some(), true);
                None
            }
        }
    }
}

/// Says what may be meant by a name that is not a model: a modulated element, a name spelled alike, or another element.
fn help_with_kind(
    message: Diagnostic,
    name: &str,
    mut known: Vec<&str>,
    may_be_element: bool,
) -> Diagnostic {
    let letters = || ElementKind::named().map(ElementKind::letters);
    if may_be_element {
        letters().for_each(|element| known.push(element));
    }
    let modulated = name.strip_prefix(['M', 'm']).and_then(|rest| {
        let small = rest.to_lowercase();
        letters().find(|kind| kind.to_lowercase() == small)
    });

    match (nearest(name, known), modulated) {
        (_, Some(kind @ ("C" | "I"))) => message.help(format!(
            "write `{kind}`; a storage that a signal changes creates energy: give it a second port, or mark it `unpowered`"
        )),
        (_, Some(kind)) => message.help(format!(
            "write `{kind}`: any value may depend on signals, as in `{kind}(2*x)`"
        )),
        (Some(near), _) => message.help(format!("did you mean `{near}`?")),
        _ if !may_be_element => message,
        _ => {
            let message = match element_meant(name) {
                Some((element, what)) => message.help(format!("write `{element}`: {what}")),
                None => message,
            };
            let letters: Vec<&str> = letters().collect();
            message.fact(format!(
                "the elements are `{}`, the junctions `0` and `1`",
                letters.join("`, `")
            ))
        }
    }
}

/// Finds the element that a word or misspelt letters mean.
fn element_meant(text: &str) -> Option<(&'static str, &'static str)> {
    let small = text.to_lowercase();
    let answer = |kind: ElementKind| (kind.letters(), kind.describe().words.1);
    let by_letters = || {
        let mut named = ElementKind::named();
        named.find(|k| k.letters().to_lowercase() == small && !k.describe().words.1.is_empty())
    };
    let by_word = |is_it: &dyn Fn(&'static str) -> bool| {
        let mut named = ElementKind::named();
        named.find(|k| k.describe().words.0.iter().any(|w| is_it(w)))
    };
    let found = by_letters()
        .or_else(|| by_word(&|w| small.contains(w)))
        // `Res`, `Cap`, `Ind`.
        .or_else(|| by_word(&|w| small.len() > 2 && w.starts_with(&small)));
    found.map(answer)
}
