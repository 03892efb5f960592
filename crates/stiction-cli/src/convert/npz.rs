//! NPZ writer: a zip file of NumPy arrays, C-contiguous, float64, little-endian.

use super::arrays::{Quantity, RunArrays};
use std::io::{self, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Alignment of the numbers in an array file [bytes], as NumPy writes it.
const NPY_ALIGNMENT: usize = 64;

/// Writes all arrays, and their units and names as `metadata.json`.
pub(super) fn write(arrays: &RunArrays, file: impl Write + Seek) -> io::Result<()> {
    let mut zip = ZipWriter::new(file);
    // large_file: allow arrays above 4 GiB
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let failed = |error: zip::result::ZipError| io::Error::other(error.to_string());
    for array in arrays.all() {
        zip.start_file(format!("{}.npy", array.name), options).map_err(failed)?;
        zip.write_all(&head(array))?;
        for number in &array.data {
            zip.write_all(&number.to_le_bytes())?;
        }
    }
    zip.start_file("metadata.json", options).map_err(failed)?;
    zip.write_all(arrays.metadata.to_string().as_bytes())?;
    zip.finish().map_err(failed)?.flush()
}

/// Header of an array file, in version 1.0 of the format.
fn head(array: &Quantity) -> Vec<u8> {
    let mut dimensions: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
    // Python needs the comma: (3,) is a tuple, (3) is a number
    dimensions.push(String::new());
    let mut text = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}",
        dimensions.join(", ").trim_end()
    );
    // magic, version and length take ten bytes; the header ends with a newline
    let length = (text.len() + 11).next_multiple_of(NPY_ALIGNMENT) - 10;
    text += &" ".repeat(length - 1 - text.len());
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    // at most three dimensions: the text is far below 64 KiB
    head.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    head.extend(text.as_bytes());
    head
}
