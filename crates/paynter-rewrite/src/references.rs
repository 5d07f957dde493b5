//! Takes comparisons out of experiments that an assumption has made impossible to keep.
//!
//! In:  the text under an assumption, and how far the recorded columns of each experiment moved.
//! Out: the text without the `compare` lines that allow less than that, and a step for each.
//!
//! A reference belongs to the full model. Where what was assumed changes the columns by more than a comparison allows, the comparison
//! would say so in every run and could say nothing else.
//!
//! **Invariant:** a comparison that allows what the assumption changes stays, and so does one that other experiments inherit it from.

use crate::net::Step;
use paynter::syntax::ast::{ExperimentKind, ItemKind};
use paynter::syntax::{FileId, Span, parse};

/// The text without comparisons that allow less than the experiment moved; and what was taken out.
pub(crate) fn without_references(text: &str, moved: &[(String, f64)]) -> (String, Vec<Step>) {
    let parsed = parse(FileId(0), text);
    let (mut cuts, mut steps) = (Vec::new(), Vec::new());
    for item in &parsed.ast.items {
        let ItemKind::Experiment(experiment) = &item.kind else {
            continue;
        };
        let name = &*experiment.name.text;
        let Some((_, worst)) = moved.iter().find(|(n, _)| n == name) else {
            continue;
        };
        for statement in &experiment.body {
            let ExperimentKind::Compare { path, within, .. } = &statement.kind else {
                continue;
            };
            let written = within.as_ref().map(|w| &text[range(w.span)]);
            let Some(allowed) = written.and_then(|w| w.trim().parse::<f64>().ok()) else {
                continue;
            };
            if *worst > allowed {
                cuts.push(range(statement.span));
                steps.push(Step {
                    rule: "compare",
                    text: format!(
                        "`{name}` is not compared with \"{path}\" any more: that is the full model, and the assumption changes it by {worst:.2e}, more than the {allowed:e} allowed"
                    ),
                });
            }
        }
    }
    let mut out = text.to_owned();
    for cut in cuts.into_iter().rev() {
        out.replace_range(whole_line(text, cut), "");
    }
    (out, steps)
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

/// A statement with the line it stands on, if it is alone there.
fn whole_line(text: &str, cut: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = text[..cut.start].rfind('\n').map_or(0, |k| k + 1);
    let rest = &text[cut.end..];
    let end = cut.end + rest.find('\n').map_or(rest.len(), |k| k + 1);
    let is_alone = text[start..cut.start].trim().is_empty() && text[cut.end..end].trim().is_empty();
    match is_alone {
        true => start..end,
        false => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::without_references;

    #[test]
    fn what_cannot_be_kept_goes_and_the_rest_stays() {
        let text = "experiment a of M {\n    stop = 1\n    compare \"x.csv\" within 1e-8\n    compare \"y.csv\" within 1e-3\n}\n\
                    experiment b of M { stop = 1; compare \"x.csv\" within 1e-8 }\n";
        let (out, steps) = without_references(text, &[("a".to_owned(), 1e-5)]);
        assert_eq!(
            out,
            text.replacen("    compare \"x.csv\" within 1e-8\n", "", 1)
        );
        assert!(steps.len() == 1 && steps[0].text.contains("x.csv"));
        let (out, _) = without_references(text, &[("b".to_owned(), 1e-5)]);
        assert!(!out.contains("b of M { stop = 1; compare"), "{out}");
        assert_eq!(without_references(text, &[]).0, text);
    }
}
