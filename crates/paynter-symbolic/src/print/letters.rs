//! Names as letters with subscripts: `theta_dot`, `R1`.
//!
//! In:  a name of a model.
//! Out: its letter and its subscript; the Greek letter that a word spells. LaTeX, MathML and TikZ use the same.

/// Parts a name before its first underscore or before its trailing digits.
pub fn split_subscript(name: &str) -> (&str, Option<&str>) {
    if let Some((letter, rest)) = name.split_once('_')
        && !letter.is_empty()
        && !rest.is_empty()
    {
        return (letter, Some(rest));
    }
    let letter = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if letter.is_empty() || letter.len() == name.len() {
        return (name, None);
    }
    (letter, Some(&name[letter.len()..]))
}

/// The Greek letter that a word spells.
pub fn spelled(word: &str) -> Option<char> {
    let found = GREEK.iter().find(|(_, name)| *name == word);
    found.map(|(letter, _)| *letter)
}

/// The word for a Greek letter, which is also its command in LaTeX.
pub fn name_of(letter: char) -> Option<&'static str> {
    let found = GREEK.iter().find(|(c, _)| *c == letter);
    found.map(|(_, name)| *name)
}

/// Greek letters that do not look like Latin ones.
const GREEK: [(char, &str); 32] = [
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
];
