//! Codes of what can be wrong with files of other programs.

paynter_syntax::codes! {
    NOT_XML = "E0900", "a file that is not XML",
        "The file cannot be read as XML: a tag that is not closed, an attribute without quotes, a character that is not allowed there. The message points at the place where reading stopped.";
    NOT_URDF = "E0901", "a file that is not a URDF",
        "A URDF has one outermost element `<robot>`. Files with `xacro:` in them are templates: run `xacro FILE.xacro > FILE.urdf` first.";
    BAD_ATTRIBUTE = "E0902", "an attribute that is missing or has no value",
        "Lengths are in metres, angles in radians, masses in kilograms; vectors such as `xyz` are three numbers separated by spaces.";
    BAD_NAME = "E0903", "a link or joint that is named twice or not at all",
        "Every link and every joint of a URDF has a name of its own, and a joint names its parent and its child.";
    NOT_A_TREE = "E0904", "links that are not a tree",
        "In a URDF every link but one is the child of exactly one joint. A link with two parents closes a loop, which URDF cannot say; write the loop into the model afterwards: two frames and a joint between them.";
    NO_MASS = "E0905", "a link without mass that moves",
        "A link on a joint that lets it move needs an `<inertial>` with a mass and moments of inertia: a body without mass has no acceleration of its own. Links that are fixed to another one need none.";
    BAD_INERTIA = "E0906", "an impossible mass or inertia",
        "Masses and principal moments of inertia are positive, and no principal moment is greater than the sum of the two others.";
    BAD_JOINT = "E0907", "a joint that cannot be used",
        "Joints are revolute, continuous, prismatic, fixed, floating or planar, and the axis of a joint that moves must not be zero.";
    LEFT_OUT = "W0908", "something that was not imported",
        "Friction that does not depend on the speed and joints that mimic another one are not imported. What is named in the message is missing in the model; everything else is there.";
}
