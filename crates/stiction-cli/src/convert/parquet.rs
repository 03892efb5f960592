//! Parquet writer: one table with typed columns, metadata in the footer.

use super::arrays::{ColumnType, Quantity};
use super::csv::word;
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

/// Rows per row group, which a reader holds in memory at once; the default of the format's own tools.
const GROUP_ROWS: usize = 1 << 20;

/// Writes a table with the column names of the CSV. Keys of the metadata have the prefix `stiction.`.
pub(super) fn write(table: &[Quantity], metadata: &Value, file: &mut (impl Write + Send)) -> io::Result<()> {
    columns(table, metadata, file).map_err(|error| match error {
        ParquetError::External(source) => io::Error::other(source),
        error => io::Error::other(error),
    })
}

fn columns(table: &[Quantity], metadata: &Value, file: &mut (impl Write + Send)) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(key_values(metadata)))
        .build();
    let mut writer = SerializedFileWriter::new(file, schema(table)?, Arc::new(properties))?;
    let rows = table.first().map_or(0, Quantity::len);
    for from in (0..rows).step_by(GROUP_ROWS) {
        let to = rows.min(from + GROUP_ROWS);
        let mut group = writer.next_row_group()?;
        for array in table {
            for component in 0..array.width() {
                let numbers = array.data[from * array.width()..to * array.width()].iter();
                let numbers = numbers.skip(component).step_by(array.width()).copied();
                let mut column = group.next_column()?.ok_or_else(|| {
                    ParquetError::General(format!("no column for {}{}", array.name, array.labels[component]))
                })?;
                fill(&mut column, &array.column_type, numbers)?;
                column.close()?;
            }
        }
        group.close()?;
    }
    writer.close().map(drop)
}

/// Writes numbers as the type of their column.
fn fill(
    column: &mut SerializedColumnWriter,
    column_type: &ColumnType,
    numbers: impl Iterator<Item = f64>,
) -> Result<()> {
    match column_type {
        ColumnType::Real => {
            column.typed::<DoubleType>().write_batch(&numbers.collect::<Vec<_>>(), None, None)?;
        }
        ColumnType::Whole => {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "counts and ids below 2^53, exact in a float64"
            )]
            let counts: Vec<i64> = numbers.map(|x| x as i64).collect();
            column.typed::<Int64Type>().write_batch(&counts, None, None)?;
        }
        ColumnType::Word(words) => {
            let named = numbers.map(|x| ByteArray::from(word(words, x).as_str()));
            column.typed::<ByteArrayType>().write_batch(&named.collect::<Vec<_>>(), None, None)?;
        }
    }
    Ok(())
}

/// Schema of a table. Every column is required: missing numbers are NaN.
fn schema(table: &[Quantity]) -> Result<TypePtr> {
    let mut fields = Vec::new();
    for array in table {
        for label in &array.labels {
            let name = format!("{}{label}", array.name);
            let (physical, logical) = match array.column_type {
                ColumnType::Real => (Physical::DOUBLE, None),
                ColumnType::Whole => (Physical::INT64, None),
                ColumnType::Word(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let field = Type::primitive_type_builder(&name, physical)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(logical);
            fields.push(Arc::new(field.build()?));
        }
    }
    Type::group_type_builder("stiction").with_fields(fields).build().map(Arc::new)
}

/// Metadata entries: strings as they are, all else as JSON.
fn key_values(metadata: &Value) -> Vec<KeyValue> {
    let entries = metadata.as_object().into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    entries.map(|(key, value)| KeyValue::new(format!("stiction.{key}"), text(value))).collect()
}
