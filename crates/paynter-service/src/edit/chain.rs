//! Takes chains apart: cuts between nodes, nodes taken out.
//!
//! In:  a chain of the syntax, and what is to go.
//! Out: texts of the statements that stay, in order.
//!
//! **Invariant:** a node that is made in the chain is made in one of the pieces, unless it is what goes.

use super::Refusal;
use super::draft::Draft;
use super::names::fresh_name;
use crate::view::BondPlace;
use paynter::syntax::{Span, ast};

/// The statement of a bond: its place, its chain, and whether it is a named bond.
pub struct Found {
    /// The whole statement.
    pub span: Span,
    /// Its chain.
    pub chain: ast::Chain,
    /// It is `bond name: …`.
    pub is_named: bool,
}

/// Finds the statement of a bond.
///
/// # Errors
///
/// The bond is inherited.
pub fn statement_of(draft: &Draft<'_>, place: &BondPlace) -> Result<Found, Refusal> {
    let (_, model) = draft.syntax();
    let statement = place.statement.and_then(|at| model.body.get(at));
    match statement.map(|s| (&s.kind, s.span)) {
        Some((ast::StmtKind::Chain(chain), span)) => Ok(Found {
            span,
            chain: chain.clone(),
            is_named: false,
        }),
        Some((ast::StmtKind::NamedBond { chain, .. }, span)) => Ok(Found {
            span,
            chain: chain.clone(),
            is_named: true,
        }),
        _ => Err(Refusal::new(
            "this belongs to a model that this one extends; change it there",
        )),
    }
}

/// Finds a bond of the view: its position.
///
/// # Errors
///
/// There is none of this id.
pub fn find_bond(draft: &Draft<'_>, id: &str) -> Result<(usize, BondPlace), Refusal> {
    let reading = draft.read();
    let at = reading.view.bonds.iter().position(|b| b.id == id);
    let at = at.ok_or_else(|| Refusal::new(format!("there is no bond `{id}`")))?;
    Ok((at, reading.bond_places[at]))
}

/// Which nodes of the two outer groups of a piece stay.
type Keep<'k> = &'k dyn Fn(usize, usize) -> bool;

/// The text of groups `first..=last` of a chain, with the nodes that stay.
pub fn piece(
    draft: &Draft<'_>,
    chain: &ast::Chain,
    first: usize,
    last: usize,
    keep: Keep<'_>,
) -> String {
    let list = |g: usize| -> String {
        let group = &chain.groups[g];
        let all = (0..group.len()).all(|n| keep(g, n));
        if all {
            let span = group[0].span.to(group[group.len() - 1].span);
            return draft.slice(span);
        }
        let nodes = group.iter().enumerate().filter(|(n, _)| keep(g, *n));
        let texts: Vec<String> = nodes.map(|(_, n)| draft.slice(n.span)).collect();
        texts.join(", ")
    };
    let mut text = list(first);
    for g in first + 1..=last {
        let left = chain.groups[g - 1].last().map_or(0, |n| n.span.end) as usize;
        let right = chain.groups[g].first().map_or(0, |n| n.span.start) as usize;
        text.push_str(draft.text().get(left..right).unwrap_or(" -> "));
        text.push_str(&list(g));
    }
    text
}

/// Texts that keep what nodes make when they stand alone: nothing for a name that is made elsewhere.
///
/// # Errors
///
/// A tuple would be left alone that makes things.
pub fn alone(draft: &Draft<'_>, node: &ast::Node) -> Result<Option<String>, Refusal> {
    Ok(match &node.kind {
        ast::NodeKind::Thing { .. } => Some(draft.slice(node.span)),
        ast::NodeKind::Anonymous(kind) => {
            let name = fresh_name(draft, &crate::view::kind_text(kind));
            Some(format!("{name}: {}", draft.slice(node.span)))
        }
        ast::NodeKind::Ref(_) | ast::NodeKind::Fixed => None,
        ast::NodeKind::Tuple(members) => {
            if members
                .iter()
                .any(|m| !matches!(m.kind, ast::NodeKind::Ref(_) | ast::NodeKind::Fixed))
            {
                return Err(Refusal::new(
                    "the tuple makes its members here; make them on lines of their own first",
                ));
            }
            None
        }
    })
}

/// What stays of groups `first..=last` as a statement: nothing if that is a lone name.
///
/// # Errors
///
/// As for [`alone`].
pub fn statement(
    draft: &Draft<'_>,
    chain: &ast::Chain,
    groups: std::ops::Range<usize>,
    keep: Keep<'_>,
) -> Result<Vec<String>, Refusal> {
    let kept = |g: usize| (0..chain.groups[g].len()).filter(|&n| keep(g, n)).count();
    // Groups of which nothing stays can only be the outer ones.
    let groups: Vec<usize> = groups.filter(|&g| kept(g) > 0).collect();
    match groups.as_slice() {
        [] => Ok(Vec::new()),
        [only] => {
            let nodes = chain.groups[*only].iter().enumerate();
            let nodes = nodes.filter(|(n, _)| keep(*only, *n));
            let texts: Result<Vec<Option<String>>, Refusal> =
                nodes.map(|(_, node)| alone(draft, node)).collect();
            Ok(texts?.into_iter().flatten().collect())
        }
        [first, .., last] => Ok(vec![piece(draft, chain, *first, *last, keep)]),
    }
}

/// The statements that stay when a bond goes.
///
/// # Errors
///
/// What the bond joins cannot stand apart.
pub fn without_bond(
    draft: &Draft<'_>,
    chain: &ast::Chain,
    place: &BondPlace,
) -> Result<Vec<String>, Refusal> {
    let (tails, heads) = (&chain.groups[place.arrow], &chain.groups[place.arrow + 1]);
    let n = chain.groups.len();
    let (tail, head) = (place.arrow, place.arrow + 1);
    match (tails.len(), heads.len()) {
        (1, 1) => {
            let mut pieces = statement(draft, chain, 0..head, &|_, _| true)?;
            pieces.extend(statement(draft, chain, head..n, &|_, _| true)?);
            Ok(pieces)
        }
        (1, _) => {
            let stays = |g: usize, i: usize| g != head || i != place.head;
            let mut pieces = statement(draft, chain, 0..n, &stays)?;
            pieces.extend(alone(draft, &heads[place.head])?);
            Ok(pieces)
        }
        (_, 1) => {
            let stays = |g: usize, i: usize| g != tail || i != place.tail;
            let mut pieces = statement(draft, chain, 0..n, &stays)?;
            pieces.extend(alone(draft, &tails[place.tail])?);
            Ok(pieces)
        }
        _ => Err(Refusal::new(
            "this arrow joins several nodes to several others; write one line for each of them first",
        )),
    }
}

/// The statements that stay when one node of a chain goes with its bonds.
///
/// # Errors
///
/// What the node joins cannot stand apart.
pub fn without_node(
    draft: &Draft<'_>,
    chain: &ast::Chain,
    group: usize,
    node: usize,
) -> Result<Vec<String>, Refusal> {
    let n = chain.groups.len();
    if chain.groups[group].len() > 1 {
        let stays = |g: usize, i: usize| g != group || i != node;
        return statement(draft, chain, 0..n, &stays);
    }
    let mut pieces = statement(draft, chain, 0..group, &|_, _| true)?;
    pieces.extend(statement(draft, chain, group + 1..n, &|_, _| true)?);
    Ok(pieces)
}

/// Brings a bond onto an arrow of its own: takes it out of a list into a statement behind.
/// Gives its place afterwards.
///
/// # Errors
///
/// As for [`without_bond`].
pub fn single_out(draft: &mut Draft<'_>, id: &str) -> Result<BondPlace, Refusal> {
    let (at, place) = find_bond(draft, id)?;
    let Found { span, chain, .. } = statement_of(draft, &place)?;
    let (tails, heads) = (&chain.groups[place.arrow], &chain.groups[place.arrow + 1]);
    if tails.len() == 1 && heads.len() == 1 {
        return Ok(place);
    }
    if tails.len() > 1 && heads.len() > 1 {
        return Err(Refusal::new(
            "this arrow joins several nodes to several others; write one line for each of them first",
        ));
    }
    let n = chain.groups.len();
    let arrow = draft.slice(chain.arrows[place.arrow].span);
    let (stays, own): (Vec<String>, String) = if heads.len() > 1 {
        let tail = reference(draft, &tails[0])?;
        let keep = |g: usize, i: usize| g != place.arrow + 1 || i != place.head;
        let head = draft.slice(heads[place.head].span);
        (
            statement(draft, &chain, 0..n, &keep)?,
            format!("{tail} {arrow} {head}"),
        )
    } else {
        let head = reference(draft, &heads[0])?;
        let keep = |g: usize, i: usize| g != place.arrow || i != place.tail;
        let tail = draft.slice(tails[place.tail].span);
        (
            statement(draft, &chain, 0..n, &keep)?,
            format!("{tail} {arrow} {head}"),
        )
    };
    let ends = {
        let bond = &draft.read().view.bonds[at];
        (bond.from.clone(), bond.to.clone())
    };
    let mut pieces = stays;
    pieces.push(own.clone());
    draft.replace_statement(span, &pieces)?;
    // The bond is found again by its ends, on the arrow that joins one to one.
    let reading = draft.read();
    let bonds = reading.view.bonds.iter().zip(&reading.bond_places);
    let mut same = bonds.filter(|(b, _)| b.from.node == ends.0.node && b.to.node == ends.1.node);
    let found = same.find(|(_, place)| {
        let chain = place
            .statement
            .and_then(|s| match &reading.model.body.get(s)?.kind {
                ast::StmtKind::Chain(chain) => Some(chain),
                _ => None,
            });
        chain.is_some_and(|c| draft.slice(c.span) == own)
    });
    found
        .map(|(_, place)| *place)
        .ok_or_else(|| Refusal::new("the bond was lost on the way"))
}

/// The text by which a node of a chain is named elsewhere.
///
/// # Errors
///
/// It has no name.
pub fn reference(draft: &Draft<'_>, node: &ast::Node) -> Result<String, Refusal> {
    match &node.kind {
        ast::NodeKind::Thing { name, index, .. } => {
            Ok(crate::view::indexed(draft.text(), name, index))
        }
        ast::NodeKind::Ref(r) => Ok(draft.slice(r.span)),
        ast::NodeKind::Fixed => Ok("_".to_owned()),
        ast::NodeKind::Tuple(members) => {
            let names: Result<Vec<String>, Refusal> =
                members.iter().map(|m| reference(draft, m)).collect();
            Ok(format!("({})", names?.join(", ")))
        }
        ast::NodeKind::Anonymous(kind) => Err(Refusal::new(format!(
            "the {} has no name to join it by; give it one first",
            crate::view::kind_text(kind)
        ))),
    }
}
