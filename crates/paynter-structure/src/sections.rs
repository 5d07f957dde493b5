//! Every structural answer about a design, for the report page.
//!
//! In:  a design.
//! Out: sections with the words and drawings of `paynter structure`; where a question has no answer, the reason.

use crate::activity::activities;
use crate::bicausal::bicausal;
use crate::channels::channels;
use crate::control::control;
use crate::faults::faults;
use crate::loops::loops;
use crate::picture::{draw_activities, draw_bicausal, draw_control};
use crate::subject::{Subject, ask};
use crate::text::{
    activity_text, bicausal_text, channels_text, control_text, faults_text, gains, loops_text,
};
use paynter::refused::Refused;
use paynter::report::Section;
use paynter::syntax::Diagnostic;
use paynter::{Choice, Design};

/// A text and a drawing.
type Answer = Result<(String, String), Vec<Diagnostic>>;

/// Asks every question that needs no further argument. Inputs and outputs are those of the experiment's `linearize`, else those of the model.
pub fn sections(design: &Design, choice: &Choice) -> Vec<Section> {
    // A run has its inputs filled in; the questions are about what they may be.
    let asked = Choice {
        linear: Some(choice.linear.clone().unwrap_or_default()),
        ..choice.clone()
    };
    let opened = design.varied(&asked, &[]);
    let design = opened.as_ref().unwrap_or(design);
    let mut list = Vec::new();
    let mut add = |title: &str, answer: Answer| {
        let (text, svg) = answer.unwrap_or_else(|why| (reason(&why), String::new()));
        list.push(Section {
            title: title.to_owned(),
            text,
            svg,
        });
    };
    add("Control and observation", controllability(design));
    add("Inputs to outputs", input_output(design));
    add("Bicausal strokes of the inverse", inverse_strokes(design));
    add("Faults", signatures(design));
    add("Loops through dependent storages", loops_of(design));
    add("Activity and power", activity(design));
    list
}

/// Why there is no answer, in one paragraph.
fn reason(why: &[Diagnostic]) -> String {
    let lines = why.iter().map(|m| format!("no answer: {}", m.message));
    lines.collect::<Vec<_>>().join("\n")
}

fn controllability(design: &Design) -> Answer {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, None))?;
    let found = control(&subject, &compiled)?;
    let picture = draw_control(design, &found);
    let mut text = control_text(&found);
    for warning in &found.warnings {
        text.push_str(&format!("warning: {}\n", warning.message));
    }
    Ok((text, picture))
}

fn input_output(design: &Design) -> Answer {
    let compiled = design.compile()?;
    let subject = Subject::new(design, ask(design, None))?;
    let found = channels(&subject, &compiled)?;
    let (paths, _) = gains(&subject);
    Ok((format!("{}\n{paths}", channels_text(&found)), String::new()))
}

fn inverse_strokes(design: &Design) -> Answer {
    let subject = Subject::new(design, ask(design, None))?;
    let found = bicausal(&subject)?;
    Ok((bicausal_text(&found), draw_bicausal(&subject, &found)))
}

fn signatures(design: &Design) -> Answer {
    let subject = Subject::new(design, ask(design, None))?;
    let found = faults(&subject)?;
    Ok((faults_text(&subject, &found), String::new()))
}

fn loops_of(design: &Design) -> Answer {
    let text = loops(design).map(|found| loops_text(&found));
    Ok((said(text)?, String::new()))
}

/// The words of an answer that needs a run.
fn said(answer: Result<String, Refused>) -> Result<String, Vec<Diagnostic>> {
    match answer {
        Err(Refused::Model(why) | Refused::Run(why)) => Err(why),
        Err(Refused::Call(why)) => Ok(format!("no answer: {why}")),
        Ok(text) => Ok(text),
    }
}

fn activity(design: &Design) -> Answer {
    let found = activities(design);
    let picture = found.as_ref().map(|found| draw_activities(design, found));
    let picture = picture.unwrap_or_default();
    Ok((said(found.map(|found| activity_text(&found)))?, picture))
}
