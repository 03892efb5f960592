//! stub
use crate::problem::Lcp;
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Enumerate {
    pub tolerance: f64,
}
pub struct Solutions {
    pub isolated: Vec<Vec<f64>>,
    pub representatives: Vec<Vec<f64>>,
}
impl Enumerate {
    pub const LIMIT: usize = 14;
    pub fn all(&self, _l: &Lcp) -> Result<Solutions, String> {
        Err(String::new())
    }
}
