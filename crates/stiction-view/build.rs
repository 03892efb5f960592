//! Embeds the page that `make viewer` builds. Without it, the commands that need the page report an error.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let page = root.join("../../viewer/dist/index.html");
    let out = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("page.html");
    // watch the folder where the file does not exist yet
    for watched in ["../../viewer/dist/index.html", "../../viewer/dist", "../../viewer"] {
        if root.join(watched).exists() {
            println!("cargo:rerun-if-changed={}", root.join(watched).display());
            break;
        }
    }
    let written = match fs::read(&page) {
        Ok(text) => fs::write(&out, text),
        Err(_) => fs::write(&out, ""),
    };
    if let Err(error) = written {
        println!("cargo:warning={}: {error}", out.display());
    }
}
