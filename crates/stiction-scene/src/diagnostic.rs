//! Diagnostics of a scene file: errors and warnings with file, line, key and suggestion.

use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The scene cannot be run.
    Error,
    /// The scene can be run, but is likely to contain a mistake.
    Warning,
}

/// Error or warning in a scene file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Name of the file, as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, counted in characters.
    pub column: usize,
    /// Path of the key, such as `bodies[2].mass`; empty for the file as a whole.
    pub key: String,
    /// Message.
    pub message: String,
    /// Suggestion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Text of the line.
    #[serde(skip)]
    pub text: String,
    /// Number of characters that are underlined, at least 1.
    #[serde(skip)]
    pub width: usize,
}

/// Number of findings listed; more are counted. An error in a copied entry may occur in each copy.
pub(crate) const MAX_FINDINGS: usize = 100;

/// Length limit of a name [bytes].
pub(crate) const MAX_NAME_BYTES: usize = 100;

/// Limit on the names that one unknown name is compared with: a comparison takes up to 20 µs.
const MAX_COMPARED_NAMES: usize = 1000;

/// Longest excerpt of a line [characters], so that it fits a terminal.
const EXCERPT_WIDTH: usize = 100;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(f, "{word}: {}", self.message)?;
        let margin = " ".repeat(self.line.to_string().len());
        write!(f, "{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, " ({})", self.key)?;
        }
        // of a long line, show the part around the finding
        let before = self.column - 1;
        let skipped =
            if before + self.width > EXCERPT_WIDTH { before.saturating_sub(EXCERPT_WIDTH / 2) } else { 0 };
        let shown: String = self.text.chars().skip(skipped).take(EXCERPT_WIDTH).map(printable).collect();
        let width = self.width.clamp(1, EXCERPT_WIDTH.saturating_sub(before - skipped).max(1));
        write!(f, "\n{margin} |\n{} | {shown}", self.line)?;
        write!(f, "\n{margin} | {}{}", " ".repeat(before - skipped), "^".repeat(width))?;
        if let Some(suggestion) = &self.suggestion {
            write!(f, "\n{margin} = {suggestion}")?;
        }
        Ok(())
    }
}

/// Replaces tabs and control characters, which would misalign the underline or confuse the terminal.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// All errors and warnings of a scene file, sorted by line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.0.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// Number of warnings.
    pub fn warnings(&self) -> usize {
        self.0.len() - self.errors()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|d| write!(f, "{d}\n\n"))?;
        let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        write!(f, "{}", plural(self.errors(), "error"))?;
        if self.warnings() > 0 {
            write!(f, ", {}", plural(self.warnings(), "warning"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Error or warning before its line is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    /// Byte range in the file.
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
}

impl Finding {
    pub(crate) fn error(span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span: span.clone(), message: message.into(), suggestion: None }
    }

    pub(crate) fn warning(span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Adds a suggestion.
    pub(crate) fn help(self, suggestion: impl Into<String>) -> Self {
        Self { suggestion: Some(suggestion.into()), ..self }
    }

    /// Suggests the most similar existing name, if one is similar enough.
    pub(crate) fn nearest<'a>(self, given: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(given, names) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Looks up the line and column.
    pub(crate) fn place(self, file: &str, source: &str, key: String) -> Diagnostic {
        let floor = |mut at: usize| {
            at = at.min(source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(self.span.start);
        let end = floor(self.span.end).max(start);
        let line_start = source[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |i| start + i);
        let width = source[start..end.min(line_end).max(start)].chars().count();
        Diagnostic {
            severity: self.severity,
            file: file.to_string(),
            line: source[..start].matches('\n').count() + 1,
            column: source[line_start..start].chars().count() + 1,
            key,
            message: self.message,
            suggestion: self.suggestion,
            text: source[line_start..line_end].trim_end_matches('\r').to_string(),
            width: width.max(1),
        }
    }
}

/// Most similar name, if at most a third of the letters differ, so that it may be a misspelling. Only names of a similar
/// length are compared, and no more than [`MAX_COMPARED_NAMES`].
pub(crate) fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > MAX_NAME_BYTES {
        return None;
    }
    let own = given.chars().count();
    let may_be_near = |name: &&str| {
        let other = name.chars().count();
        own.abs_diff(other) <= (own.max(other) / 3).max(1)
    };
    let far = |name: &str| strsim::damerau_levenshtein(given, name);
    let compared = names.into_iter().filter(may_be_near).take(MAX_COMPARED_NAMES);
    let near = compared.map(|name| (far(name), name)).min()?;
    let letters = own.max(near.1.chars().count());
    (near.0 <= (letters / 3).max(1) && near.0 < letters).then_some(near.1)
}
