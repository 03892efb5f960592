//! HTML page with every table and figure of the papers, without external files.

use super::{PaperResults, difference, number, published, verdict};
use std::fmt::Write as _;
use stiction_papers::{Agreement, Measurement};

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #262c36; --soft: #6b7380; --rule: #d9dde3; --paper: #fff; --good: #146c50;
  --near: #8a6100; --bad: #b3324f }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #9aa3b0; --rule: #39404b; --paper: #14171c;
  --good: #5fc9a4; --near: #e0b04c; --bad: #f08aa0 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 96rem;
  margin: 0 auto; padding: 1.5rem }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .6rem } h1 { margin-top: 0 }
p { max-width: 46rem }
nav ul { padding-left: 1.2rem; margin: .2rem 0 } nav > ul { columns: 26rem; column-gap: 2rem; padding-left: 1rem }
nav > ul > li { break-inside: avoid; margin-bottom: .6rem }
details.paper { border-top: 1px solid var(--rule); padding: .4rem 0 } details.paper > summary { padding: .5rem 0 }
details.paper > summary h2 { display: inline; color: var(--ink); margin: 0 }
@media (max-width: 40rem) { body { padding: .8rem; font-size: 14px } h1 { font-size: 1.5rem } h2 { font-size: 1.15rem }
  th, td { padding-right: .5rem } figure svg { min-width: 0 } }
a { color: inherit }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .4rem 0 1rem }
th, td { text-align: left; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid var(--rule); vertical-align: top }
td.n, th.n { text-align: right; white-space: nowrap }
.reproduced { color: var(--good) } .close { color: var(--near) } .differs { color: var(--bad); font-weight: 600 }
.remark { color: var(--soft) }
details > summary { cursor: pointer; color: var(--soft) }
figure { margin: 1rem 0; background: #fff; color: #262c36; border: 1px solid var(--rule); border-radius: 6px;
  padding: .5rem; overflow-x: auto }
figure svg { width: 100%; height: auto; min-width: 28rem }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 42rem), 1fr)); gap: 1rem }
.figures figure { margin: 0 }
";

/// Page as HTML.
pub(super) fn page(chapters: &[PaperResults]) -> String {
    let mut text = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    text += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    let _ =
        writeln!(text, "<title>Stiction: the papers reproduced</title><style>{STYLE}</style></head><body>");
    text += "<h1>The papers, reproduced</h1>\n";
    let _ = writeln!(
        text,
        "<p>Every number that stiction {} gives for the experiments of the papers, beside the one that was \
         published. <b>Reproduced</b>: within 0.5 % of a printed number, within 10 % of one read off a picture or \
         of an order, or within a published bound. <b>Close</b>: within 10 %. Lines without a published number are \
         folded away.</p>",
        env!("CARGO_PKG_VERSION")
    );
    summary(&mut text, chapters);
    contents(&mut text, chapters);
    for chapter in chapters {
        section(&mut text, chapter);
    }
    text += "</body></html>\n";
    text
}

fn summary(text: &mut String, chapters: &[PaperResults]) {
    *text += "<div class=\"wide\"><table><tr><th>paper</th><th class=\"n\">reproduced</th><th class=\"n\">close</th>\
              <th class=\"n\">differs</th><th class=\"n\">not published</th></tr>\n";
    for chapter in chapters {
        let [key, title] = chapter.paper.cited();
        let _ = write!(text, "<tr><td><a href=\"#{key}\">{}</a></td>", escaped(title));
        for verdict in [Agreement::Reproduced, Agreement::Close, Agreement::Differs, Agreement::Unpublished] {
            let _ = write!(text, "<td class=\"n\">{}</td>", chapter.count(verdict));
        }
        *text += "</tr>\n";
    }
    *text += "</table></div>\n";
}

/// Table of contents: papers with their experiments. A link opens the section that it leads to.
fn contents(text: &mut String, chapters: &[PaperResults]) {
    *text += "<nav aria-label=\"Contents\"><h2>Contents</h2><ul>\n";
    for chapter in chapters {
        let [key, title] = chapter.paper.cited();
        let _ = write!(text, "<li><a href=\"#{key}\">{}</a><ul>", escaped(title));
        for (number, lines) in chapter.lines.chunk_by(|a, b| a.experiment == b.experiment).enumerate() {
            let name = escaped(lines[0].experiment);
            let _ = write!(text, "<li><a href=\"#{key}-{number}\">{name}</a></li>");
        }
        if !chapter.figures.is_empty() {
            let _ = write!(text, "<li><a href=\"#{key}-figures\">{} figures</a></li>", chapter.figures.len());
        }
        *text += "</ul></li>\n";
    }
    *text += "</ul></nav>\n";
    // a target within a folded section would not be shown
    *text += "<script>const unfold = () => { let e = document.getElementById(location.hash.slice(1)); \
              if (e?.matches('details')) e.open = true; for (; e; e = e.parentElement) if (e.matches('details')) e.open = true; \
              document.getElementById(location.hash.slice(1))?.scrollIntoView(); }; \
              addEventListener('hashchange', unfold); addEventListener('load', unfold);</script>\n";
}

fn section(text: &mut String, chapter: &PaperResults) {
    let [key, title] = chapter.paper.cited();
    let verdicts =
        [Agreement::Reproduced, Agreement::Close, Agreement::Differs].map(|verdict| chapter.count(verdict));
    let _ = writeln!(
        text,
        "<details class=\"paper\" id=\"{key}\"><summary><h2>{}</h2> <span>{} reproduced, {} close, {} differ</span></summary>",
        escaped(title),
        verdicts[0],
        verdicts[1],
        verdicts[2]
    );
    if let Some(why) = &chapter.stopped {
        let _ = writeln!(text, "<p class=\"differs\">Stopped: {}</p>", escaped(why));
    }
    for (number, lines) in chapter.lines.chunk_by(|a, b| a.experiment == b.experiment).enumerate() {
        let _ = writeln!(text, "<h3 id=\"{key}-{number}\">{}</h3>", escaped(lines[0].experiment));
        let (compared, rest): (Vec<_>, Vec<_>) = lines.iter().partition(|l| l.published.is_some());
        if !compared.is_empty() {
            table(text, &compared, true);
        }
        if !rest.is_empty() {
            let _ = write!(text, "<details><summary>{} more, not published</summary>", rest.len());
            table(text, &rest, false);
            *text += "</details>\n";
        }
    }
    if !chapter.figures.is_empty() {
        let _ = writeln!(text, "<h3 id=\"{key}-figures\">Figures</h3>");
    }
    *text += "<div class=\"figures\">\n";
    for (_, svg) in &chapter.figures {
        // the drawings contain their titles
        let _ = writeln!(text, "<figure>{}</figure>", scalable(svg));
    }
    *text += "</div>\n</details>\n";
}

fn table(text: &mut String, lines: &[&Measurement], compared: bool) {
    *text += "<div class=\"wide\"><table><tr><th>case</th><th>quantity</th><th class=\"n\">here</th>";
    if compared {
        *text += "<th class=\"n\">published</th><th class=\"n\">difference</th><th>verdict</th>";
    }
    *text += "</tr>\n";
    for line in lines {
        let _ = write!(
            text,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td>",
            escaped(&line.case),
            escaped(line.quantity),
            number(line.value)
        );
        if compared {
            let word = verdict(line);
            let _ = write!(
                text,
                "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"{word}\">{word}",
                published(line),
                difference(line)
            );
            if !line.remark.is_empty() {
                let _ = write!(text, "<div class=\"remark\">{}</div>", escaped(line.remark));
            }
            *text += "</td>";
        }
        *text += "</tr>\n";
    }
    *text += "</table></div>\n";
}

/// Drawing that scales to the available width: its size becomes its view box, if it has none.
fn scalable(svg: &str) -> String {
    let body = svg.find("<svg").map_or(svg, |at| &svg[at..]);
    let Some(end) = body.find('>') else { return body.to_string() };
    let (head, rest) = body.split_at(end);
    let number = |name: &str| {
        let at = head.find(&format!(" {name}=\""))? + name.len() + 3;
        head[at..].split('"').next()
    };
    match (number("width"), number("height"), head.contains("viewBox")) {
        (Some(width), Some(height), has_box) => {
            let frame = if has_box { String::new() } else { format!(" viewBox=\"0 0 {width} {height}\"") };
            let plain = head
                .replace(&format!(" width=\"{width}\""), "")
                .replace(&format!(" height=\"{height}\""), "");
            format!("{plain}{frame}{rest}")
        }
        _ => body.to_string(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
