//! Checks that hold for the reproduction of every paper.

use std::collections::BTreeSet;
use stiction_papers::{Agreement, FigureContent, Reproduction};

/// Every measurement and figure has one name, values are finite, a difference has a reason, and figures can be drawn.
pub(crate) fn check_reproduction(all: &Reproduction, paper: &str) {
    let keys: BTreeSet<_> = all.lines.iter().map(|l| (l.experiment, &l.case, l.quantity)).collect();
    assert_eq!(keys.len(), all.lines.len());
    for line in &all.lines {
        assert_eq!(line.paper, paper);
        assert!(line.value.is_finite(), "{line:?}");
        let unexplained = line.agreement() == Agreement::Differs && line.remark.is_empty();
        assert!(!unexplained, "differs from the published value without a reason: {line:?}");
    }
    assert!(all.lines.iter().any(|l| l.published.is_some()));
    let names: BTreeSet<_> = all.figures.iter().map(|f| &f.name).collect();
    assert_eq!(names.len(), all.figures.len());
    for figure in &all.figures {
        // file extensions are added to the names
        assert!(!figure.name.contains('.') && !figure.title.is_empty(), "{}", figure.name);
        match &figure.content {
            FigureContent::Curves { axes, curves } => {
                let drawn =
                    |p: &[f64; 2]| (0..2).all(|k| p[k].is_finite() && (!axes[k].logarithmic || p[k] > 0.0));
                assert!(!curves.is_empty(), "{}", figure.name);
                assert!(curves.iter().all(|c| c.points.iter().any(drawn)), "{}", figure.name);
            }
            FigureContent::Snapshots(frames) => {
                assert!(frames.windows(2).all(|w| w[0].t < w[1].t), "{}", figure.name);
                let mut outlines = frames.iter().flat_map(|f| &f.outlines).peekable();
                assert!(outlines.peek().is_some(), "{}", figure.name);
                assert!(
                    outlines.all(|o| o.points.iter().flatten().all(|x| x.is_finite())),
                    "{}",
                    figure.name
                );
            }
        }
    }
}
