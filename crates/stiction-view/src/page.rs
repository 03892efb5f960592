//! The page with a run in it, or with a scene that is live.

use crate::describe::Description;
use data_encoding::BASE64;

/// The page as `make viewer` built it; empty where it did not.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Where a run goes into it.
const PLACE: &str = "<!-- run -->";

/// The program was built without the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this program was built without its page, which npm builds: run `make viewer`, then build the program again"
)]
pub struct NoPage;

/// `true` when the page is in the program.
pub fn has_page() -> bool {
    PAGE.contains(PLACE)
}

fn filled(descriptions: &[&Description], frames: Option<&str>) -> Result<String, NoPage> {
    let (before, after) = PAGE.split_once(PLACE).ok_or(NoPage)?;
    // what a name holds must not end the script
    let description = serde_json::to_string(descriptions).unwrap_or_default().replace('<', "\\u003c");
    let mut page = String::with_capacity(PAGE.len() + description.len() + frames.map_or(0, str::len) + 200);
    page.push_str(before);
    page.push_str("<script type=\"application/json\" id=\"description\">");
    page.push_str(&description);
    page.push_str("</script>\n");
    if let Some(frames) = frames {
        page.push_str("<script type=\"text/plain\" id=\"frames\">");
        page.push_str(frames);
        page.push_str("</script>\n");
    }
    page.push_str(after);
    Ok(page)
}

/// A page that replays frames, one file that needs no other.
pub fn replay(descriptions: &[&Description], frames: &[u8]) -> Result<String, NoPage> {
    // the level at which compressing takes about as long as writing
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(frames, 6);
    filled(descriptions, Some(&BASE64.encode(&packed)))
}

/// The page of a live simulation.
pub(crate) fn live(description: &Description) -> Result<String, NoPage> {
    filled(&[description], None)
}
