//! Embeds the scenes of `scenes/`, which the start page of `stiction view` offers.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../scenes");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut list = String::from("&[\n");
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let _ =
            writeln!(list, "    ({name:?}, include_str!({:?})),", fs::canonicalize(file)?.to_string_lossy());
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("scenes.rs"), list)
}
