//! Parts looked at inside of a whole: their strokes are those that they have there.

mod kit;

use kit::root;
use paynter_service::Workspace;
use paynter_service::view::{Decided, Form, StrokeAt};

fn open(text: &str) -> Workspace {
    let mut workspace = Workspace::new([]);
    workspace.open("m.bond", text);
    workspace
}

const DRIVEN: &str = "model Mass {
    port a: translational
    a -> v: 1 -> m: I(2), r: R(1)
}
model Whole {
    left: Mass()
    right: Mass()
    pull: Se(1) -> j: 0
    j -> left.a
    push: Sf(1) -> right.a
}
";

#[test]
fn two_parts_of_one_kind_have_the_strokes_of_their_own_surroundings() {
    let workspace = open(DRIVEN);
    let inside = |part: &str| {
        let way = [part.to_owned()];
        let view = workspace.view_inside(("m.bond", "Mass"), ("m.bond", "Whole"), &way);
        view.expect("there is such a part")
    };
    let (left, right) = (inside("left"), inside("right"));
    let bond = |view: &paynter_service::View, to: &str| {
        let mut bonds = view.bonds.iter();
        bonds
            .find(|b| b.to.node == to)
            .expect("it is there")
            .clone()
    };
    // Pulled by an effort the mass integrates; driven by a flow it follows.
    assert_eq!(bond(&left, "m").stroke, Some(StrokeAt::Head));
    assert!(bond(&left, "m").is_integral);
    assert_eq!(bond(&right, "m").stroke, Some(StrokeAt::Tail));
    assert!(bond(&right, "m").is_derivative);
    let form = |view: &paynter_service::View| {
        let mut nodes = view.nodes.iter();
        nodes.find(|n| n.id == "m").expect("it is there").form
    };
    assert_eq!(form(&left), Some(Form::Integral));
    assert_eq!(form(&right), Some(Form::Derivative));
    // The bond through the port has the stroke of the whole as well.
    assert_eq!(bond(&left, "v").stroke, Some(StrokeAt::Head));
    assert_eq!(bond(&right, "v").stroke, Some(StrokeAt::Tail));
    assert!(
        left.bonds
            .iter()
            .all(|b| b.decided != Some(Decided::Conflict))
    );
    let nowhere = ["middle".to_owned()];
    assert!(
        workspace
            .view_inside(("m.bond", "Mass"), ("m.bond", "Whole"), &nowhere)
            .is_none()
    );
}

#[test]
fn a_part_of_a_part_is_found_by_its_way() {
    let text = format!("{DRIVEN}model Outer {{\n    w: Whole()\n}}\n");
    let workspace = open(&text);
    let way = ["w".to_owned(), "right".to_owned()];
    let view = workspace.view_inside(("m.bond", "Mass"), ("m.bond", "Outer"), &way);
    let view = view.expect("it is there");
    assert!(
        view.bonds
            .iter()
            .any(|b| b.is_derivative && b.to.node == "m")
    );
    assert!(view.bonds.iter().all(|b| b.stroke.is_some()), "{view:?}");
}

#[test]
fn a_body_of_the_library_has_strokes_inside_of_a_mechanism() {
    let path = root()
        .join("gallery/slider_crank/slider_crank.bond")
        .display()
        .to_string();
    let workspace = Workspace::new([]);
    let library = "library:mechanics3d";
    let way = ["crank".to_owned()];
    let view = workspace.view_inside((library, "Rod"), (&path, "SliderCrank"), &way);
    let view = view.expect("the crank is a rod");
    let storages = view
        .bonds
        .iter()
        .filter(|b| ["it", "ir"].contains(&&*b.to.node));
    let storages: Vec<_> = storages.collect();
    assert_eq!(storages.len(), 2);
    // All bodies of the closed loop follow the crank's one freedom.
    assert!(
        storages
            .iter()
            .all(|b| b.is_derivative && b.dimension == Some(3))
    );
    // Alone it lacks a mass, and has no strokes.
    let alone = workspace.view(library, "Rod").expect("it is there");
    assert!(alone.bonds.iter().all(|b| !b.is_derivative));
}
