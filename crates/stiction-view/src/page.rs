//! HTML page with a recorded run or a live scene inserted.

use crate::describe::Description;
use data_encoding::BASE64;

/// Page as `make viewer` built it; empty where it was not built.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Marker in the page that is replaced by the run.
const RUN_MARKER: &str = "<!-- run -->";

/// Error of a program that was built without the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this program was built without its page: run `make viewer` (it needs npm), then build the program again"
)]
pub struct NoPage;

/// `true` when the program was built with the page.
pub fn has_page() -> bool {
    PAGE.contains(RUN_MARKER)
}

/// Inserts descriptions and frames into the page.
fn fill(descriptions: &[&Description], frames: Option<&str>) -> Result<String, NoPage> {
    let (before, after) = PAGE.split_once(RUN_MARKER).ok_or(NoPage)?;
    // escaped, so that a name cannot end the script element
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

/// Self-contained page that replays frames.
pub fn replay(descriptions: &[&Description], frames: &[u8]) -> Result<String, NoPage> {
    // level 6: higher levels take longer than writing the file
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(frames, 6);
    fill(descriptions, Some(&BASE64.encode(&packed)))
}

/// Page of a live session.
pub(crate) fn live(description: &Description) -> Result<String, NoPage> {
    fill(&[description], None)
}
