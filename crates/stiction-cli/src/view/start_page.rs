//! Start page of `stiction view`: a card with a picture of every scene, those of this program or of a folder.

use crate::gallery::{self, Card};
use crate::run::motion::{self, ViewDirection};
use crate::{BadInput, plot};
use std::path::Path;
use stiction_papers::{Figure, FigureContent};
use stiction_scene::Scene;

/// Names and texts of the scenes of `scenes/`, which an installed program has too.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenes.rs"));

/// Scene that the start page offers.
pub(super) struct OfferedScene {
    /// Name in its address.
    pub(super) name: String,
    pub(super) scene: Scene,
    /// Picture of its start as SVG.
    picture: String,
}

/// Scenes of a folder, or those of this program.
pub(super) fn scenes(folder: Option<&Path>) -> Result<Vec<OfferedScene>, BadInput> {
    let Some(folder) = folder else {
        return EMBEDDED.iter().map(|(name, text)| offered(name, text, &format!("{name}.toml"))).collect();
    };
    let files = gallery::scenes(folder)?;
    if files.is_empty() {
        return Err(BadInput(format!("{}: no scene files (.toml) here", folder.display())));
    }
    let read = |file: &std::path::PathBuf| {
        let text = std::fs::read_to_string(file).map_err(|error| BadInput::file(file, &error))?;
        let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy();
        // the name is a part of an address
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        offered(&name.chars().map(plain).collect::<String>(), &text, &file.display().to_string())
    };
    files.iter().map(read).collect()
}

fn offered(name: &str, text: &str, shown: &str) -> Result<OfferedScene, BadInput> {
    let bad = |error: String| BadInput(format!("{shown}\n{error}"));
    let scene = Scene::from_toml(text, shown).map_err(|error| bad(error.to_string()))?;
    let built = scene.build().map_err(|error| bad(error.to_string()))?;
    let figure = Figure {
        name: name.to_string(),
        title: String::new(),
        content: FigureContent::Snapshots(motion::frames(
            &built.model,
            std::slice::from_ref(&built.state),
            ViewDirection::Front,
        )),
    };
    let picture = plot::draw(&figure).map_err(BadInput)?;
    Ok(OfferedScene { name: name.to_string(), scene, picture })
}

/// Page with a card for each scene.
pub(super) fn page(scenes: &[OfferedScene]) -> String {
    let card = |offered: &OfferedScene| Card {
        link: format!("./?scene={}", offered.name),
        picture: address(&offered.picture),
        title: offered.scene.title().unwrap_or(&offered.name).to_string(),
        facts: offered.scene.description().unwrap_or_default().to_string(),
        failed: None,
    };
    let cards: Vec<Card> = scenes.iter().map(card).collect();
    gallery::cards(
        "A click runs a scene live: push bodies, drop new ones, change friction, go back in time.",
        &cards,
    )
}

/// Picture as an address that contains it.
fn address(svg: &str) -> String {
    let mut address = String::from("data:image/svg+xml,");
    for c in svg.chars() {
        match c {
            '%' => address.push_str("%25"),
            '#' => address.push_str("%23"),
            '<' => address.push_str("%3C"),
            '>' => address.push_str("%3E"),
            '"' => address.push('\''),
            '\n' => address.push(' '),
            other => address.push(other),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::{EMBEDDED, page, scenes};
    use std::collections::BTreeSet;

    #[test]
    fn every_scene_of_the_repository_is_in_the_program_with_a_picture() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                entry.unwrap().file_name().to_str()?.strip_suffix(".toml").map(str::to_string)
            })
            .collect();
        assert_eq!(files, EMBEDDED.iter().map(|(name, _)| (*name).to_string()).collect());
        let offered = scenes(None).unwrap();
        let page = page(&offered);
        for (name, _) in EMBEDDED {
            assert!(page.contains(&format!("./?scene={name}\"")), "{name}");
        }
        assert!(offered.iter().all(|offered| offered.picture.contains("<poly")));
    }
}
