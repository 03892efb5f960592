//! Writes the files of the folder `problems/` from their formulas.
//!
//! `cargo run --release -p stiction-problems --example write_problems [folder]`

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let default = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../problems"));
    let folder = std::env::args_os().nth(1).map_or_else(default, PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for (file, problem) in stiction_problems::collection::all() {
        std::fs::write(folder.join(file).with_extension("json"), problem.to_json() + "\n")?;
    }
    Ok(())
}
