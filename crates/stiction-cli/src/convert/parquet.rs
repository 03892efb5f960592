//! Parquet: tables with typed columns, and what they are in the footer.

use super::arrays::{Array, Kind};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that a reader has to hold at once; what the format's own tools take.
const GROUP: usize = 1 << 20;

/// A table whose columns are called as in CSV; metadata have `stiction.` before their names.
pub(super) fn write(table: &[Array], metadata: &Value, file: &mut (impl Write + Send)) -> io::Result<()> {
    columns(table, metadata, file).map_err(|error| match error {
        ParquetError::External(source) => io::Error::other(source),
        error => io::Error::other(error),
    })
}

fn columns(table: &[Array], metadata: &Value, file: &mut (impl Write + Send)) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(said(metadata)))
        .build();
    let mut writer = SerializedFileWriter::new(file, schema(table)?, Arc::new(properties))?;
    let rows = table.first().map_or(0, Array::len);
    for from in (0..rows).step_by(GROUP) {
        let to = rows.min(from + GROUP);
        let mut group = writer.next_row_group()?;
        for array in table {
            for place in 0..array.width() {
                let numbers = array.data[from * array.width()..to * array.width()].iter();
                let numbers = numbers.skip(place).step_by(array.width()).copied();
                let mut column = group.next_column()?.ok_or_else(|| {
                    ParquetError::General(format!("no column for {}{}", array.name, array.labels[place]))
                })?;
                fill(&mut column, &array.kind, numbers)?;
                column.close()?;
            }
        }
        group.close()?;
    }
    writer.close().map(drop)
}

/// Numbers as what they stand for.
fn fill(column: &mut SerializedColumnWriter, kind: &Kind, numbers: impl Iterator<Item = f64>) -> Result<()> {
    match kind {
        Kind::Real => {
            column.typed::<DoubleType>().write_batch(&numbers.collect::<Vec<_>>(), None, None)?;
        }
        Kind::Whole => {
            // counted by the journal as whole numbers that a float64 holds
            #[allow(clippy::cast_possible_truncation)]
            let counts: Vec<i64> = numbers.map(|x| x as i64).collect();
            column.typed::<Int64Type>().write_batch(&counts, None, None)?;
        }
        Kind::Word(words) => {
            let words: Vec<ByteArray> = words.iter().map(|word| word.as_str().into()).collect();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let named = numbers.map(|x| {
                // a number without a word is of a journal that does not fit its scene, and stays a number
                words.get(x as usize).cloned().unwrap_or_else(|| x.to_string().as_str().into())
            });
            column.typed::<ByteArrayType>().write_batch(&named.collect::<Vec<_>>(), None, None)?;
        }
    }
    Ok(())
}

/// Every column is there in every row: what is not a number is NaN.
fn schema(table: &[Array]) -> Result<TypePtr> {
    let mut fields = Vec::new();
    for array in table {
        for label in &array.labels {
            let name = format!("{}{label}", array.name);
            let (physical, logical) = match array.kind {
                Kind::Real => (Physical::DOUBLE, None),
                Kind::Whole => (Physical::INT64, None),
                Kind::Word(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let field = Type::primitive_type_builder(&name, physical)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(logical);
            fields.push(Arc::new(field.build()?));
        }
    }
    Type::group_type_builder("stiction").with_fields(fields).build().map(Arc::new)
}

/// Texts as they are, all else as JSON.
fn said(metadata: &Value) -> Vec<KeyValue> {
    let entries = metadata.as_object().into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    entries.map(|(key, value)| KeyValue::new(format!("stiction.{key}"), text(value))).collect()
}
