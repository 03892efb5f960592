//! `convert --to parquet`: files, read back by the format's own reader and compared with the NumPy arrays.

use crate::common::{Folder, boxes, code, printed, stiction};
use crate::convert::{Arrays, npz};
use parquet::basic::{LogicalType, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Columns by name, in their order.
type Columns = Vec<(String, Vec<Field>)>;

/// Table and its metadata.
fn table(path: &Path) -> (Columns, BTreeMap<String, String>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let file = reader.metadata().file_metadata();
    let entries = file.key_value_metadata().unwrap().iter();
    let metadata = entries.map(|entry| (entry.key.clone(), entry.value.clone().unwrap())).collect();
    for column in file.schema_descr().columns() {
        let text = column.physical_type() == Type::BYTE_ARRAY;
        assert_eq!(column.logical_type_ref() == Some(&LogicalType::String), text, "{}", column.name());
        assert_eq!(column.max_def_level(), 0, "{} is in every row", column.name());
    }
    let named = |column: &parquet::schema::types::ColumnDescPtr| (column.name().to_string(), Vec::new());
    let mut columns: Columns = file.schema_descr().columns().iter().map(named).collect();
    for row in reader.get_row_iter(None).unwrap() {
        for ((_, column), (_, field)) in columns.iter_mut().zip(row.unwrap().get_column_iter()) {
            column.push(field.clone());
        }
    }
    (columns, metadata)
}

/// Number of a field in the NumPy arrays; names are replaced by their index.
fn number(field: &Field, words: &[String]) -> f64 {
    match field {
        Field::Double(x) => *x,
        Field::Long(x) => *x as f64,
        Field::Str(word) => words.iter().position(|w| w == word).expect("a known word") as f64,
        other => panic!("{other:?} is no type of a column"),
    }
}

/// Compares columns with arrays bit by bit; returns the numbers of real, integer and text columns.
fn compare(columns: &Columns, arrays: &Arrays, metadata: &Value) -> [usize; 3] {
    let list = |key: &str| serde_json::from_value::<Vec<String>>(metadata[key].clone()).unwrap();
    let mut kinds = [0; 3];
    let mut seen = BTreeMap::<&str, usize>::new();
    for (name, fields) in columns {
        let quantity = name.split('.').next().unwrap();
        let component = *seen.entry(quantity).and_modify(|n| *n += 1).or_default();
        let (shape, data) = &arrays[quantity];
        let width: usize = shape[1..].iter().product();
        assert_eq!(fields.len(), shape[0], "{name}");
        let words = match quantity {
            "contact_bodies" => list("body_numbers"),
            "joint_row_joint" => list("joint_numbers"),
            _ => ["open", "stick", "slip"].map(String::from).to_vec(),
        };
        for (row, field) in fields.iter().enumerate() {
            let expected = data[row * width + component];
            assert_eq!(number(field, &words).to_bits(), expected.to_bits(), "{name}, row {row}");
        }
        kinds[match fields[0] {
            Field::Double(_) => 0,
            Field::Long(_) => 1,
            _ => 2,
        }] += 1;
    }
    // every component of an array has its column
    for (quantity, last) in seen {
        assert_eq!(last + 1, arrays[quantity].0[1..].iter().product::<usize>(), "{quantity}");
    }
    kinds
}

#[test]
fn columns_equal_the_arrays_bit_by_bit() {
    let folder = Folder::new("parquet");
    let scene = folder.file("boxes.toml", &boxes(0.4, 0.4));
    let output = stiction(&[&"run", &scene, &"--out", &folder.path("run.parquet")]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let journal = folder.path("run.journal");
    assert_eq!(code(&stiction(&[&"convert", &journal, &"--to", &"npz"])), 0);
    let (arrays, metadata) = npz(&folder.path("run.npz"));
    let mut count = 0;
    // time and step, 7 bodies, 1 joint, 6 bodies that move with 3 coordinates each, energies, momenta, errors
    let samples = 2 + 7 * (3 + 4 + 3 + 3 + 1) + 1 + 2 * 18 + 2 + 6 + 8;
    let tables = [("run", [samples, 1, 0]), ("run.contacts", [15, 4, 3]), ("run.joints", [1, 1, 1])];
    for (file, kinds) in tables {
        let path = folder.path(&format!("{file}.parquet"));
        assert!(printed(&output).contains(path.to_str().unwrap()), "{}", printed(&output));
        let (columns, own_metadata) = table(&path);
        assert_eq!(compare(&columns, &arrays, &metadata), kinds, "{file}");
        count += columns.len();
        assert_eq!(own_metadata["stiction.scene_text"], boxes(0.4, 0.4));
        assert_eq!(own_metadata["stiction.scene"], "boxes.toml");
        assert_eq!(own_metadata["stiction.program"], metadata["program"].as_str().unwrap());
        assert_eq!(own_metadata["stiction.h"], "0.002");
        for key in ["scheme", "quantities"] {
            let value: Value = serde_json::from_str(&own_metadata[&format!("stiction.{key}")]).unwrap();
            assert_eq!(value, metadata[key], "{key}");
        }
    }
    assert_eq!(count, arrays.values().map(|(shape, _)| shape[1..].iter().product::<usize>()).sum::<usize>());
}

#[test]
fn an_empty_table_has_no_file() {
    let folder = Folder::new("parquet-bare");
    let text = boxes(0.1, 0.4) + "\n[record]\nevery = 0.02\ncontacts = false\n";
    let scene = folder.file("boxes.toml", &text);
    let journal = folder.path("run.journal");
    assert_eq!(code(&stiction(&[&"run", &scene, &"--out", &journal])), 0);
    let out = folder.path("table.parquet");
    let output = stiction(&[&"convert", &journal, &"--to", &"parquet", &"--out", &out]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(table(&out).0[0].1.len(), 6);
    assert!(!folder.path("table.contacts.parquet").exists());
    assert!(folder.path("table.joints.parquet").exists());
}
