//! The gallery on the start page: cards, pictures, and copies into the folder.

use crate::folder::Folder;
use crate::wire::Card;
use paynter::draw::diagram::{DiagramOptions, diagram, to_svg};
use paynter::library::gallery;
use paynter::overlay::{LibraryOnly, Overlay};
use paynter::{Choice, design_in};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Lists the gallery.
pub fn cards() -> Vec<Card> {
    let folders = gallery().into_iter();
    let cards = folders.map(|(name, files)| {
        let story = files
            .iter()
            .find(|(below, _)| *below == "README.md")
            .map_or("", |(_, text)| text);
        let models = files.iter().filter(|(below, _)| below.ends_with(".bond"));
        let (title, story) = heading(story);
        Card {
            name: name.to_owned(),
            title,
            story,
            checks: models.clone().map(|(_, text)| count_checks(text)).sum(),
            files: models.map(|(below, _)| (*below).to_owned()).collect(),
        }
    });
    cards.collect()
}

/// The heading of a story and its first paragraph, without marks.
fn heading(story: &str) -> (String, String) {
    let title = story
        .lines()
        .find_map(|l| l.strip_prefix("# "))
        .unwrap_or("");
    let lines = story
        .lines()
        .skip_while(|l| l.trim().is_empty() || l.starts_with('#'));
    let paragraph: Vec<&str> = lines.take_while(|l| !l.trim().is_empty()).collect();
    (
        title.to_owned(),
        paragraph.join(" ").replace(['`', '*'], ""),
    )
}

fn count_checks(text: &str) -> usize {
    let is_check = |line: &&str| line.trim_start().starts_with("compare ");
    text.lines().filter(is_check).count()
}

/// Draws the first model of a gallery folder; none if there is no such folder. Each is drawn once.
pub fn picture(name: &str) -> Option<String> {
    static DRAWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let drawn = || DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = drawn().get(name) {
        return Some(known.clone());
    }
    let all = gallery();
    let (_, files) = all.iter().find(|(folder, _)| *folder == name)?;
    let main = main_file(name, files)?;
    // A model may use one of a neighbouring folder.
    let mut world = Overlay::new(LibraryOnly);
    for (folder, files) in &all {
        for (below, text) in files {
            world.set(format!("{folder}/{below}"), *text);
        }
    }
    let design = design_in(&mut world, &format!("{name}/{main}"), &Choice::default()).ok()?;
    let strokes = design.strokes();
    let options = DiagramOptions::default();
    let drawing = diagram(&strokes.graph, Some(&strokes.causality), &options);
    let svg = to_svg(&drawing);
    drawn().insert(name.to_owned(), svg.clone());
    Some(svg)
}

/// The model named like the folder, or the first one.
fn main_file<'f>(name: &str, files: &[(&'f str, &str)]) -> Option<&'f str> {
    let own = format!("{name}.bond");
    let mut models = files
        .iter()
        .map(|(below, _)| *below)
        .filter(|b| b.ends_with(".bond"));
    models.clone().find(|b| *b == own).or_else(|| models.next())
}

/// Copies a gallery folder into the opened one, with those that its models use, and gives the path of its
/// main model. What already exists stays as it is.
///
/// # Errors
///
/// There is no such model, or it cannot be written.
pub fn take(folder: &Folder, name: &str) -> Result<String, String> {
    let all = gallery();
    let found = all.iter().find(|(folder, _)| *folder == name);
    let (_, files) = found.ok_or_else(|| format!("the gallery has no `{name}`"))?;
    let main = main_file(name, files).ok_or_else(|| format!("`{name}` has no model"))?;
    let mut wanted = vec![name];
    let mut at = 0;
    while let Some(&next) = wanted.get(at) {
        at += 1;
        let Some((_, files)) = all.iter().find(|(folder, _)| *folder == next) else {
            continue;
        };
        for (below, text) in files {
            let path = format!("{next}/{below}");
            if folder.stamp(&path).is_none() {
                folder.write_new(&path, text)?;
            }
            let used = neighbours(text)
                .into_iter()
                .filter(|u| below.ends_with(".bond") && !wanted.contains(u));
            let used: Vec<&str> = used.collect();
            wanted.extend(used);
        }
    }
    Ok(format!("{name}/{main}"))
}

/// Folders beside its own that a text names: `"../gyroscope/gyroscope.bond"`.
fn neighbours(text: &str) -> Vec<&str> {
    let named = text.split("\"../").skip(1);
    named.filter_map(|rest| rest.split('/').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_has_a_title_a_story_and_a_picture() {
        for card in cards() {
            assert!(
                !card.title.is_empty() && !card.story.is_empty() && !card.files.is_empty(),
                "{}",
                card.name
            );
            assert!(
                picture(&card.name).is_some_and(|p| p.starts_with("<svg")),
                "{}",
                card.name
            );
        }
        assert!(picture("../../etc").is_none());
    }
}
