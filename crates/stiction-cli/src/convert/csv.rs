//! Comma-separated values: a row per sample, and files beside it for contacts and joint rows.

use super::arrays::Array;
use std::io::{self, Write};

/// A table with its names in the first row; numbers are written so that they are read back as they were.
pub(super) fn write(table: &[Array], file: &mut impl Write) -> io::Result<()> {
    let names = table.iter().flat_map(|a| a.labels.iter().map(|label| quoted(&format!("{}{label}", a.name))));
    writeln!(file, "{}", names.collect::<Vec<_>>().join(","))?;
    for row in 0..table.first().map_or(0, Array::len) {
        let mut first = true;
        for array in table {
            for x in &array.data[row * array.width()..(row + 1) * array.width()] {
                if !first {
                    file.write_all(b",")?;
                }
                first = false;
                // what is not a number is left empty
                if !x.is_nan() {
                    write!(file, "{x:?}")?;
                }
            }
        }
        file.write_all(b"\n")?;
    }
    Ok(())
}

/// A name that a comma or a quote does not tear apart.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}
