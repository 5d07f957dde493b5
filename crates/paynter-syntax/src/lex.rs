//! Cuts text into tokens and loses nothing.
//!
//! In:  any text.
//! Out: the kind and the first byte of each token.
//!
//! **Invariant:** tokens lie end to end from the first byte to the last. A character
//! that the language does not know is an [`TokenKind::Unknown`] token, not an error here.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// Blanks, tabs, carriage returns: everything white but `\n`.
    Whitespace,
    /// `\n`
    Newline,
    /// `// …`
    Comment,
    /// `/// …`
    DocComment,
    /// Characters that mean nothing here.
    Unknown,
    /// A name or a contextual keyword.
    Ident,
    /// `1`, `1.5`, `20e-3`
    Number,
    /// `"…"`, closed by the quote or by the end of the line.
    Text,
    /// `_`
    Underscore,
    /// `if`
    If,
    /// `then`
    Then,
    /// `else`
    Else,
    /// `and`
    And,
    /// `or`
    Or,
    /// `not`
    Not,
    /// `true`
    True,
    /// `false`
    False,
    /// `->`
    Arrow,
    /// `=>`
    DoubleArrow,
    /// `->|`
    ArrowStroke,
    /// `=>|`
    DoubleArrowStroke,
    /// `|->`
    StrokeArrow,
    /// `|=>`
    StrokeDoubleArrow,
    /// `..`
    DotDot,
    /// `==`
    EqEq,
    /// `!=`
    NotEq,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `<`
    Lt,
    /// `>`
    Gt,
    /// `=`
    Eq,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `^`
    Caret,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `.`
    Dot,
    /// `'`
    Prime,
    /// `%`
    Percent,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `[`
    LBracket,
    /// `]`
    RBracket,
    /// `{`
    LBrace,
    /// `}`
    RBrace,
    /// Behind the last token; never in a token list.
    End,
}

impl TokenKind {
    /// Tells whether the parser steps over it. Unknown characters are reported once and
    /// then stepped over too, so that one wrong character costs one message.
    pub fn is_trivia(self) -> bool {
        use TokenKind as T;
        matches!(
            self,
            T::Whitespace | T::Newline | T::Comment | T::DocComment | T::Unknown
        )
    }

    /// Tells whether it opens a pair of brackets.
    pub fn is_opener(self) -> bool {
        matches!(
            self,
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace
        )
    }

    /// Tells whether it closes a pair of brackets.
    pub fn is_closer(self) -> bool {
        matches!(
            self,
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace
        )
    }

    /// Tells whether it is one of the six bond arrows.
    pub fn is_arrow(self) -> bool {
        use TokenKind as T;
        matches!(
            self,
            T::Arrow
                | T::DoubleArrow
                | T::ArrowStroke
                | T::DoubleArrowStroke
                | T::StrokeArrow
                | T::StrokeDoubleArrow
        )
    }

    /// Tells whether it is a word that an expression reserves, so that it cannot be a name.
    pub fn is_reserved_word(self) -> bool {
        use TokenKind as T;
        matches!(
            self,
            T::If | T::Then | T::Else | T::And | T::Or | T::Not | T::True | T::False
        )
    }

    /// Tells whether a line that ends with this token goes on in the next line.
    pub fn continues_line(self) -> bool {
        use TokenKind as T;
        self.is_arrow()
            || matches!(
                self,
                T::Comma
                    | T::Eq
                    | T::Plus
                    | T::Minus
                    | T::Star
                    | T::Slash
                    | T::Caret
                    | T::EqEq
                    | T::NotEq
                    | T::Le
                    | T::Ge
                    | T::Lt
                    | T::Gt
                    | T::DotDot
                    | T::Colon
                    | T::And
                    | T::Or
                    | T::Not
                    | T::Then
                    | T::Else
            )
    }

    /// Tells whether a line that starts with this token belongs to the line above.
    pub fn continues_from_above(self) -> bool {
        self.is_arrow() || matches!(self, TokenKind::Then | TokenKind::Else)
    }
}

/// The tokens of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    kinds: Vec<TokenKind>,
    /// One more than `kinds`: the last entry is the length of the text.
    starts: Vec<u32>,
}

impl Tokens {
    /// Makes one unknown token of a text that is not read.
    pub(crate) fn one_unknown(length: usize) -> Self {
        let end = u32::try_from(length).unwrap_or(u32::MAX);
        Tokens {
            kinds: vec![TokenKind::Unknown],
            starts: vec![0, end],
        }
    }

    /// Counts them.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Tells whether the text was empty.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Gives the kind of token `i`.
    pub fn kind(&self, i: usize) -> TokenKind {
        self.kinds.get(i).copied().unwrap_or(TokenKind::End)
    }

    /// Gives the bytes that token `i` covers.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        let at = |i: usize| {
            self.starts
                .get(i)
                .or(self.starts.last())
                .map_or(0, |&s| s as usize)
        };
        at(i)..at(i + 1)
    }

    /// Gives the text of token `i` of `text`, the text that was lexed.
    pub fn text<'t>(&self, i: usize, text: &'t str) -> &'t str {
        text.get(self.range(i)).unwrap_or("")
    }
}

/// Cuts `text` into tokens, in one pass.
///
/// The text must be shorter than 4 GiB; `parse` refuses longer ones before they get here.
///
/// ```
/// use paynter_syntax::{TokenKind, lex};
/// let tokens = lex("1..n");
/// let kinds: Vec<_> = (0..tokens.len()).map(|i| tokens.kind(i)).collect();
/// assert_eq!(kinds, [TokenKind::Number, TokenKind::DotDot, TokenKind::Ident]);
/// ```
pub fn lex(text: &str) -> Tokens {
    // A token of model text has between two and three bytes on average.
    let mut tokens = Tokens {
        kinds: Vec::with_capacity(text.len() / 2),
        starts: Vec::with_capacity(text.len() / 2 + 1),
    };
    let mut at = 0;
    while at < text.len() {
        let (kind, length) = next_token(&text[at..]);
        let extends_unknown =
            kind == TokenKind::Unknown && tokens.kinds.last() == Some(&TokenKind::Unknown);
        if !extends_unknown {
            tokens.kinds.push(kind);
            tokens.starts.push(at as u32);
        }
        at += length;
    }
    tokens.starts.push(text.len() as u32);
    tokens
}

/// Gives the kind and length of the token that `rest`, which is not empty, begins with.
fn next_token(rest: &str) -> (TokenKind, usize) {
    let bytes = rest.as_bytes();
    match bytes[0] {
        b'\n' => (TokenKind::Newline, 1),
        b' ' | b'\t' | b'\r' => (TokenKind::Whitespace, blanks(bytes)),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => word(rest),
        b'0'..=b'9' => (TokenKind::Number, number(bytes)),
        b'"' => (TokenKind::Text, quoted(bytes)),
        b'/' if bytes.get(1) == Some(&b'/') => comment(bytes),
        first if first < 128 => punctuation(bytes),
        _ => other(rest),
    }
}

fn blanks(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\r'))
        .count()
}

fn word(rest: &str) -> (TokenKind, usize) {
    let length = rest
        .char_indices()
        .find(|&(_, c)| !(c == '_' || c.is_alphanumeric()))
        .map_or(rest.len(), |(i, _)| i);
    let kind = match &rest[..length] {
        "_" => TokenKind::Underscore,
        "if" => TokenKind::If,
        "then" => TokenKind::Then,
        "else" => TokenKind::Else,
        "and" => TokenKind::And,
        "or" => TokenKind::Or,
        "not" => TokenKind::Not,
        "true" => TokenKind::True,
        "false" => TokenKind::False,
        _ => TokenKind::Ident,
    };
    (kind, length)
}

/// Measures a number. A dot belongs to it only with a digit after it, so that
/// `1..n` is a range; so does an `e`, so that `2 e` stays a number and a name.
fn number(bytes: &[u8]) -> usize {
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = bytes
            .get(length + 1 + sign..)
            .map_or(0, |_| digits(length + 1 + sign));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn quoted(bytes: &[u8]) -> usize {
    match bytes[1..].iter().position(|&b| b == b'"' || b == b'\n') {
        Some(i) if bytes[1 + i] == b'"' => i + 2,
        Some(i) => i + 1,
        None => bytes.len(),
    }
}

fn comment(bytes: &[u8]) -> (TokenKind, usize) {
    let length = bytes
        .iter()
        .position(|&b| b == b'\n')
        .unwrap_or(bytes.len());
    let is_doc = bytes.get(2) == Some(&b'/') && bytes.get(3) != Some(&b'/');
    (
        if is_doc {
            TokenKind::DocComment
        } else {
            TokenKind::Comment
        },
        length,
    )
}

fn punctuation(bytes: &[u8]) -> (TokenKind, usize) {
    use TokenKind as T;
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    match (bytes[0], at(1), at(2)) {
        (b'-', b'>', b'|') => (T::ArrowStroke, 3),
        (b'=', b'>', b'|') => (T::DoubleArrowStroke, 3),
        (b'|', b'-', b'>') => (T::StrokeArrow, 3),
        (b'|', b'=', b'>') => (T::StrokeDoubleArrow, 3),
        (b'-', b'>', _) => (T::Arrow, 2),
        (b'=', b'>', _) => (T::DoubleArrow, 2),
        (b'=', b'=', _) => (T::EqEq, 2),
        (b'!', b'=', _) => (T::NotEq, 2),
        (b'<', b'=', _) => (T::Le, 2),
        (b'>', b'=', _) => (T::Ge, 2),
        (b'.', b'.', _) => (T::DotDot, 2),
        (b'<', ..) => (T::Lt, 1),
        (b'>', ..) => (T::Gt, 1),
        (b'=', ..) => (T::Eq, 1),
        (b'+', ..) => (T::Plus, 1),
        (b'-', ..) => (T::Minus, 1),
        (b'*', ..) => (T::Star, 1),
        (b'/', ..) => (T::Slash, 1),
        (b'^', ..) => (T::Caret, 1),
        (b',', ..) => (T::Comma, 1),
        (b';', ..) => (T::Semicolon, 1),
        (b':', ..) => (T::Colon, 1),
        (b'.', ..) => (T::Dot, 1),
        (b'\'', ..) => (T::Prime, 1),
        (b'%', ..) => (T::Percent, 1),
        (b'(', ..) => (T::LParen, 1),
        (b')', ..) => (T::RParen, 1),
        (b'[', ..) => (T::LBracket, 1),
        (b']', ..) => (T::RBracket, 1),
        (b'{', ..) => (T::LBrace, 1),
        (b'}', ..) => (T::RBrace, 1),
        _ => (T::Unknown, 1),
    }
}

/// Letters beyond ASCII are letters, blanks beyond ASCII are blanks.
fn other(rest: &str) -> (TokenKind, usize) {
    let first = rest
        .chars()
        .next()
        .expect("the lexer stops at the end of the text");
    if first.is_alphabetic() {
        return word(rest);
    }
    // U+FEFF is the byte order mark that some editors put before the first line.
    let is_blank = first.is_whitespace() || first == '\u{feff}';
    let kind = if is_blank {
        TokenKind::Whitespace
    } else {
        TokenKind::Unknown
    };
    (kind, first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use TokenKind as T;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let tokens = lex(text);
        (0..tokens.len())
            .map(|i| tokens.kind(i))
            .filter(|k| *k != T::Whitespace)
            .collect()
    }

    #[test]
    fn a_number_takes_its_exponent_but_not_a_range() {
        assert_eq!(kinds("20e-3"), [T::Number]);
        assert_eq!(kinds("1.5E+7"), [T::Number]);
        assert_eq!(kinds("1..n"), [T::Number, T::DotDot, T::Ident]);
        assert_eq!(kinds("1e"), [T::Number, T::Ident]);
        assert_eq!(kinds("1."), [T::Number, T::Dot]);
        assert_eq!(kinds("1e-"), [T::Number, T::Ident, T::Minus]);
    }

    #[test]
    fn the_longest_arrow_wins() {
        assert_eq!(kinds("-> ->| |-> => =>| |=>").len(), 6);
        assert_eq!(kinds("a->|b"), [T::Ident, T::ArrowStroke, T::Ident]);
        assert_eq!(kinds("a>=b"), [T::Ident, T::Ge, T::Ident]);
    }

    #[test]
    fn letters_of_any_script_make_names() {
        assert_eq!(kinds("θ₁ Ω"), [T::Ident, T::Ident]);
    }

    #[test]
    fn three_slashes_document_and_four_do_not() {
        assert_eq!(kinds("/// a"), [T::DocComment]);
        assert_eq!(kinds("//// a"), [T::Comment]);
    }

    #[test]
    fn an_open_quote_ends_with_its_line() {
        assert_eq!(kinds("\"ab\nx"), [T::Text, T::Newline, T::Ident]);
    }
}
