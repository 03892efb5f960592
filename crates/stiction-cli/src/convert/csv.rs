//! CSV writer: one table, with column names in the first row. Bodies, joints and modes are in words.

use super::arrays::{ColumnType, Quantity};
use std::io::{self, Write};

/// Writes a table. Numbers have as many digits as it takes to read them back bit by bit; NaN is an empty field.
pub(super) fn write(table: &[Quantity], file: &mut impl Write) -> io::Result<()> {
    let names = table.iter().flat_map(|a| a.labels.iter().map(|label| quoted(&format!("{}{label}", a.name))));
    writeln!(file, "{}", names.collect::<Vec<_>>().join(","))?;
    for row in 0..table.first().map_or(0, Quantity::len) {
        let mut first = true;
        for array in table {
            for x in &array.data[row * array.width()..(row + 1) * array.width()] {
                if !first {
                    file.write_all(b",")?;
                }
                first = false;
                match &array.column_type {
                    _ if x.is_nan() => {}
                    ColumnType::Word(words) => file.write_all(quoted(&word(words, *x)).as_bytes())?,
                    _ => write!(file, "{x:?}")?,
                }
            }
        }
        file.write_all(b"\n")?;
    }
    Ok(())
}

/// Word of an index. An index without one comes from a journal that does not fit its scene: the number is kept.
pub(super) fn word(words: &[String], index: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "indices of names")]
    let found = words.get(index as usize);
    found.cloned().unwrap_or_else(|| index.to_string())
}

/// Quotes a name that contains commas, quotes or line breaks.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}
