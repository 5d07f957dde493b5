//! The codes of messages about text, each with what it means.
//!
//! In:  nothing.
//! Out: one constant per code, and [`TABLE`] for `paynter explain` and the book.
//!
//! **Invariant:** codes are never reused. Syntax has `E01xx`; other crates make
//! tables with the same macro.

/// A row of a table of codes: code, title, explanation in a sentence or two.
pub type CodeRow = (&'static str, &'static str, &'static str);

/// Makes a constant for each code, and `TABLE` with a [`CodeRow`](crate::code::CodeRow) for each, in order.
#[macro_export]
macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $explanation:literal;)*) => {
        $(#[doc = $title] pub const $name: &str = $code;)*

        /// Every code of this table, in order.
        pub const TABLE: &[$crate::code::CodeRow] = &[$(($code, $title, $explanation)),*];
    };
}

crate::codes! {
    UNEXPECTED = "E0101", "something else was expected here",
        "The text does not follow the grammar at this place. The message says what is allowed here and what was found instead.";
    UNCLOSED = "E0102", "a bracket is never closed",
        "A `{`, `(` or `[` has no partner. In a file whose braces do not balance, indentation shows where the missing one belongs.";
    STRAY_CLOSER = "E0103", "a closing bracket closes nothing",
        "A `}`, `)` or `]` has no partner in front of it.";
    UNKNOWN_CHARACTER = "E0104", "a character means nothing here",
        "Outside comments and strings, only names, numbers and the symbols of the language are allowed. Characters that look like an operator but are not one, such as a typographic minus, are the usual cause.";
    UNFINISHED_TEXT = "E0105", "a string has no closing quote",
        "A string in double quotes ends on the line on which it begins.";
    NUMBER_TOO_LARGE = "E0106", "a number is too large",
        "Numbers are 64-bit floating point; the largest is about 1.8e308.";
    BAD_UNIT = "E0107", "not a unit",
        "A unit in brackets is a product of powers of unit names, such as `[kg*m^2]`, `[J/(kg*K)]` or `[1/s]`.";
    UNIT_AFTER_EXPRESSION = "E0108", "a unit follows something that is not a literal",
        "A unit follows a number, a matrix in brackets or a name being declared. After an expression a bracket is an index, and an index is written without a space.";
    UNIT_WITHOUT_BRACKETS = "E0109", "a word follows a number",
        "A unit is written in brackets, `50 [ohm]`, and a product with a star, `2*x`.";
    NESTED_TOO_DEEP = "E0110", "nested too deep",
        "Blocks and expressions may nest about two hundred deep, and an expression may be a few hundred operators high.";
    NO_EFFECT = "E0111", "a line does nothing",
        "A line that has an arrow is power, a line that has `=` is a signal; a bare name is neither.";
    LIST_INSIDE_CHAIN = "E0112", "a list in the middle of a chain",
        "Several nodes separated by commas are allowed at the start of a chain (fan-in) or at its end (fan-out).";
    NOT_A_JUNCTION = "E0113", "a number that is not a junction",
        "Where a node is expected, `0` and `1` are junctions; other numbers mean nothing.";
    NOT_A_DEMAND = "E0114", "an equation needs `==`",
        "Inside `solve` and after `invariant`, `==` states that two things are equal; `=` defines a name.";
    UNKNOWN_ITEM = "E0115", "not an item of a file",
        "A file holds `use`, `domain`, `port`, `model`, `fn` and `experiment`, and constants such as `ez = [0, 0, 1]`.";
    UNKNOWN_STATEMENT = "E0116", "not a statement",
        "The first word of the line is not one that may begin a statement here.";
    RESERVED_WORD = "E0117", "a reserved word used as a name",
        "`if then else and or not true false` belong to expressions and cannot be names. All other words can.";
    PRIME_IS_TRANSPOSE = "E0118", "a prime on the left of a definition",
        "`'` is the transpose only; the derivative is written `der(x)`.";
    NAMED_BOND = "E0119", "a named bond joins exactly two nodes",
        "`bond shaft: motor -> load` names one bond, so there is one arrow, and one node at each end.";
    LINE_STARTS_WITH_OPERATOR = "E0120", "a line starts with an operator",
        "A line continues on the next one when it ends with an operator, or when the next one starts with an arrow.";
    NOT_TEXT = "E0121", "the file is not text",
        "A model file is UTF-8 text.";
    TOO_LARGE = "E0122", "the file is too large",
        "Files up to 32 MiB are read. Large networks are written with `for`.";
    TOO_MANY_ERRORS = "E0123", "further errors are not shown",
        "Only the first errors of a file are listed.";
    EXTENDS_NOTHING = "E0125", "an experiment that extends nothing",
        "`experiment b extends a { … }` inherits everything from `a`, an experiment of the same file, and replaces what it writes itself. There is no such experiment, or the chain of bases leads back to where it began.";
    CALL_OF_EXPRESSION = "E0124", "only a name can be called",
        "Parentheses after a name call it; after anything else an operator is missing.";
}
