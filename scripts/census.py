#!/usr/bin/env python3
"""Counts of the Rust sources, crate by crate, to compare two states of the repository.

    python3 scripts/census.py [--repo DIR]

Rows: source lines, files, functions, functions over 80 lines, functions over 7 parameters, the most parameters, public
items, documentation lines that open with What or Those, type names that occur twice, names of numeric constants with
several values, uses of std::thread. Sources are crates/*/src without modules for tests; lines are counted with blank
lines and comments. Repeated blocks are counted by other tools.
"""

import argparse
import collections
import pathlib
import re

LINES = 80
PARAMETERS = 7

FUNCTION = re.compile(r"\bfn\s+(\w+)")
TYPE = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|union|trait)\s+([A-Z]\w*)", re.M)
NUMBER = re.compile(
    r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?const\s+([A-Z][A-Z0-9_]*)\s*:\s*"
    r"(\[*(?:f32|f64|usize|isize|[iu](?:8|16|32|64|128))\b[^=]*)=([^;]*);",
    re.M,
)
PUBLIC = re.compile(
    r"^[ \t]*pub\s+(?:(?:async|const|unsafe)\s+)*(?:fn|struct|enum|union|trait|type|static|mod|const\s+[A-Z])", re.M
)
OPENING = re.compile(r"^[ \t]*//[/!]\s+(?:What|Those)\b")
DOCUMENTATION = re.compile(r"^[ \t]*//[/!]")


def blanked(text):
    """The text with comments, strings and characters blanked, so that braces and words are those of code."""
    out = []
    i, n = 0, len(text)

    def blank(to):
        out.append("".join(c if c == "\n" else " " for c in text[i:to]))
        return to

    while i < n:
        raw = re.match(r'b?r(#*)"', text[i:]) if text[i] in "br" and (i == 0 or not is_word(text[i - 1])) else None
        if text.startswith("//", i):
            end = text.find("\n", i)
            i = blank(n if end < 0 else end)
        elif text.startswith("/*", i):
            depth, j = 1, i + 2
            while j < n and depth:
                if text.startswith("/*", j):
                    depth, j = depth + 1, j + 2
                elif text.startswith("*/", j):
                    depth, j = depth - 1, j + 2
                else:
                    j += 1
            i = blank(j)
        elif raw:
            end = text.find('"' + raw.group(1), i + raw.end())
            i = blank(n if end < 0 else end + 1 + len(raw.group(1)))
        elif text[i] == '"':
            j = i + 1
            while j < n and text[j] != '"':
                j += 2 if text[j] == "\\" else 1
            i = blank(min(j + 1, n))
        elif text[i] == "'" and re.match(r"'(?:\\[^']+|\\'|[^'\\])'", text[i:]):
            i = blank(i + re.match(r"'(?:\\[^']+|\\'|[^'\\])'", text[i:]).end())
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def is_word(c):
    return c.isalnum() or c == "_"


def closing(code, at, pair="{}"):
    """Where the bracket that opens at `at` closes."""
    depth = 0
    for j in range(at, len(code)):
        if code[j] == pair[0]:
            depth += 1
        elif code[j] == pair[1]:
            depth -= 1
            if depth == 0:
                return j
    return len(code) - 1


def without_tests(code, text):
    """Code and text without items under #[cfg(test)] and without tests."""
    while match := re.search(r"#\[(?:cfg\(test\)|test)\]", code):
        brace, semicolon = code.find("{", match.end()), code.find(";", match.end())
        inline = brace < 0 or 0 <= semicolon < brace
        end = (semicolon if inline else closing(code, brace)) + 1
        code, text = (s[: match.start()] + s[end:] for s in (code, text))
    return code, text


def functions(code):
    """Name, lines, parameters, start and end of each function with a body."""
    for match in FUNCTION.finditer(code):
        at = match.end()
        # generic parameters may hold parentheses: Fn(f64) -> f64
        if code[at : at + 1] == "<":
            depth = 0
            while at < len(code):
                if code[at] == "<":
                    depth += 1
                elif code[at] == ">" and code[at - 1] != "-":
                    depth -= 1
                    if depth == 0:
                        at += 1
                        break
                at += 1
        opening = code.find("(", at)
        if opening < 0 or code[at:opening].strip():
            continue
        end = closing(code, opening, "()")
        ends = [j for j in (code.find("{", end), code.find(";", end)) if j >= 0]
        if not ends or code[min(ends)] == ";":
            continue
        last = closing(code, min(ends))
        # as clippy counts: lines of the body that hold code
        lines = sum(bool(line.strip()) for line in code[min(ends) + 1 : last].split("\n"))
        yield match.group(1), lines, parameters(code[opening + 1 : end]), match.start(), last + 1


def parameters(inner):
    """Parameters of a list, self included."""
    depth, count, filled = 0, 0, False
    for k, c in enumerate(inner):
        if c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and inner[k - 1] not in "-="):
            depth -= 1
        if c == "," and depth == 0:
            count, filled = count + filled, False
        elif not c.isspace():
            filled = True
    return count + filled


def is_test(source):
    return any(part in ("tests", "tests.rs", "bench.rs") for part in source.parts)


def sources_of(folder):
    """Source files of a crate without those of tests."""
    return [f for f in sorted((folder / "src").rglob("*.rs")) if not is_test(f.relative_to(folder / "src"))]


def census(folder):
    """The counts of one crate, by the keys of ROWS."""
    count = collections.Counter()
    types, constants = collections.defaultdict(set), collections.defaultdict(set)
    for source in sources_of(folder):
        text = source.read_text(encoding="utf-8")
        code, text = without_tests(blanked(text), text)
        count["lines"] += text.count("\n")
        count["files"] += 1
        for _, lines, arguments, _, _ in functions(code):
            count["functions"] += 1
            count["long"] += lines > LINES
            count["wide"] += arguments > PARAMETERS
            count["most"] = max(count["most"], arguments)
        count["public"] += len(PUBLIC.findall(code))
        count["thread"] += len(re.findall(r"\bstd::thread\b|(?<!:)\bthread::(?:spawn|scope|sleep)", code))
        before = ""
        for line in text.split("\n"):
            # the first line of a documentation block
            count["opening"] += bool(OPENING.match(line)) and not DOCUMENTATION.match(before)
            before = line
        # twins of the plane and of space are one name
        twin = re.sub(r"\b(planar|spatial)\b", "*", str(source.relative_to(folder)))
        for name in TYPE.findall(code):
            types[name].add(twin)
        for name, kind, value in NUMBER.findall(code):
            constants[name].add(re.sub(r"\s+", "", kind + "=" + value))
    count["types"] = sum(len(places) > 1 for places in types.values())
    count["constants"] = sum(len(values) > 1 for values in constants.values())
    return count


ROWS = [
    ("lines", "source lines"),
    ("files", "files"),
    ("functions", "functions"),
    ("long", f"functions over {LINES} lines"),
    ("wide", f"functions over {PARAMETERS} parameters"),
    ("most", "most parameters"),
    ("public", "public items"),
    ("opening", "documentation that opens with What or Those"),
    ("types", "type names in two files or more"),
    ("constants", "numeric constants with several values"),
    ("thread", "uses of std::thread"),
]


def main():
    parser = argparse.ArgumentParser(description="Counts of the Rust sources, crate by crate.")
    parser.add_argument("--repo", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    repo = parser.parse_args().repo
    crates = {f.name: census(f) for f in sorted((repo / "crates").iterdir()) if (f / "src").is_dir()}
    total = collections.Counter()
    for key, _ in ROWS:
        values = [counts[key] for counts in crates.values()]
        total[key] = max(values) if key == "most" else sum(values)
    columns = [*crates.items(), ("all", total)]
    width = max(len(words) for _, words in ROWS)
    print(" " * width + "".join(f"{name:>{max(len(name), 6) + 2}}" for name, _ in columns))
    for key, words in ROWS:
        print(f"{words:<{width}}" + "".join(f"{c[key]:>{max(len(name), 6) + 2}}" for name, c in columns))


if __name__ == "__main__":
    main()
