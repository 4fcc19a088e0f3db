//! What is printed at the end.

use std::io::{self, Write};

use super::cell::{Cell, Verdict};

/// How many checks passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Count {
    pub(crate) fn of<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Self {
        let mut count = Self::default();
        for check in cells.into_iter().flat_map(|cell| &cell.checks) {
            match check.verdict {
                Verdict::Passed => count.passed += 1,
                Verdict::Failed(_) => count.failed += 1,
                Verdict::Skipped(_) => count.skipped += 1,
            }
        }
        count
    }
}

/// A row for each cell, then why each check failed, then the count of all.
pub(crate) fn print(cells: &[Cell], out: &mut dyn Write) -> io::Result<Count> {
    let width = |head: &str, field: fn(&Cell) -> &str| {
        cells
            .iter()
            .map(|cell| field(cell).len())
            .chain([head.len()])
            .max()
            .unwrap_or_default()
    };
    let client = width("client", |cell| &cell.client);
    let server = width("server", |cell| &cell.server);
    writeln!(
        out,
        "{:client$}  {:server$}  {:10}  passed  failed  skipped",
        "client", "server", "revision"
    )?;
    for cell in cells {
        let Count {
            passed,
            failed,
            skipped,
        } = Count::of([cell]);
        writeln!(
            out,
            "{:client$}  {:server$}  {:10}  {passed:>6}  {failed:>6}  {skipped:>7}",
            cell.client, cell.server, cell.revision
        )?;
    }
    for cell in cells.iter().filter(|cell| cell.failed()) {
        writeln!(out, "\n{} -> {}, {}:", cell.client, cell.server, cell.revision)?;
        for check in &cell.checks {
            if let Verdict::Failed(why) = &check.verdict {
                writeln!(out, "  {}: {why}", check.step)?;
            }
        }
        for line in &cell.stderr {
            writeln!(out, "  | {line}")?;
        }
    }
    let count = Count::of(cells);
    writeln!(
        out,
        "\n{} passed, {} failed, {} skipped",
        count.passed, count.failed, count.skipped
    )?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interop::cell::Check;

    #[test]
    fn the_table_names_what_failed_and_closes_with_the_count() -> io::Result<()> {
        let cell = |server: &str, checks| Cell {
            client: "ts1".into(),
            server: server.into(),
            revision: "2025-11-25".into(),
            checks,
            stderr: vec!["said".into()],
        };
        let cells = [
            cell(
                "ours",
                vec![Check::new("echo", Ok(())), Check::skipped("ask", "too old")],
            ),
            cell("theirs", vec![Check::new("echo", Err("no".into()))]),
        ];
        let mut out = Vec::new();
        let count = print(&cells, &mut out)?;
        assert_eq!(
            count,
            Count {
                passed: 1,
                failed: 1,
                skipped: 1
            }
        );
        let text = String::from_utf8_lossy(&out);
        let expected = "client  server  revision    passed  failed  skipped\n\
                        ts1     ours    2025-11-25       1       0        1\n\
                        ts1     theirs  2025-11-25       0       1        0\n\
                        \n\
                        ts1 -> theirs, 2025-11-25:\n  \
                          echo: no\n  \
                          | said\n\
                        \n\
                        1 passed, 1 failed, 1 skipped\n";
        assert_eq!(text, expected);
        Ok(())
    }
}
