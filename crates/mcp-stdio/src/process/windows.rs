//! How Windows finds programs and passes arguments, as plain functions that can be tested anywhere.
//!
//! Two surprises are behind this file. `npx` is really `npx.cmd`, found through `PATHEXT`, which the plain process call
//! does not read. And a batch file gets its arguments through `cmd.exe`, whose quoting differs from everybody else's.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::{Kind, SpawnError};

/// What Windows uses when `PATHEXT` is not set.
pub const DEFAULT_PATHEXT: &str = ".COM;.EXE;.BAT;.CMD";

/// Files to try for `program`, best first. `path` holds folders separated by `;`.
///
/// A name with a known extension is tried as it is first; then each extension is added. Relative folders are skipped.
/// A program with a separator or a drive is not searched for: it is taken relative to `cwd`.
pub fn candidates(program: &str, path: &str, pathext: Option<&str>, cwd: Option<&str>) -> Vec<String> {
    let extensions: Vec<&str> = pathext
        .filter(|text| !text.is_empty())
        .unwrap_or(DEFAULT_PATHEXT)
        .split(';')
        .filter(|e| !e.is_empty())
        .collect();
    let named = extensions
        .iter()
        .any(|extension| has_extension(program, extension));
    let with_extensions = |base: String| {
        let plain = named.then(|| base.clone());
        plain.into_iter().chain(
            extensions
                .iter()
                .map(move |e| format!("{base}{}", e.to_ascii_lowercase())),
        )
    };
    if program.contains(['\\', '/', ':']) {
        let base = match cwd {
            Some(cwd) if !is_absolute(program) => join(cwd, program),
            _ => program.to_owned(),
        };
        return with_extensions(base).collect();
    }
    path.split(';')
        .map(|folder| folder.trim_matches('"'))
        .filter(|folder| is_absolute(folder))
        .flat_map(|folder| with_extensions(join(folder, program)))
        .collect()
}

fn join(folder: &str, name: &str) -> String {
    let name = name
        .strip_prefix(".\\")
        .or(name.strip_prefix("./"))
        .unwrap_or(name);
    format!("{}\\{name}", folder.trim_end_matches(['\\', '/']))
}

fn has_extension(name: &str, extension: &str) -> bool {
    let start = name.len().checked_sub(extension.len());
    start
        .and_then(|start| name.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(extension))
}

/// A drive with a separator, or a share. `C:x` and `\x` depend on a current drive and are not absolute.
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/');
    drive || path.starts_with("\\\\") || path.starts_with("//")
}

/// True for programs that `cmd.exe` runs.
pub fn is_batch(program: &str) -> bool {
    has_extension(program, ".bat") || has_extension(program, ".cmd")
}

/// The command line for an ordinary program, so that its arguments arrive unchanged.
pub fn command_line(program: &str, args: &[&str]) -> String {
    let mut line = format!("\"{program}\"");
    for arg in args {
        line.push(' ');
        quote(&mut line, arg);
    }
    line
}

/// The rule of the C runtime: backslashes count only in front of a quote.
fn quote(line: &mut String, arg: &str) {
    let plain = !arg.is_empty() && !arg.contains([' ', '\t', '\n', '\u{b}', '"']);
    if plain {
        line.push_str(arg);
        return;
    }
    line.push('"');
    let mut backslashes = 0;
    for c in arg.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                line.extend(std::iter::repeat_n('\\', backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(c);
    }
    line.extend(std::iter::repeat_n('\\', backslashes));
    line.push('"');
}

/// The command line that makes `cmd.exe` run a batch file with these arguments, or `None` where no safe spelling
/// exists (line breaks, NUL; a quote or trailing backslash in the file name).
///
/// Every argument outside a small safe set is quoted, quotes are doubled, and a percent sign is broken up so that no
/// variable is expanded. `/v:OFF` keeps `!` plain, `/d` skips autorun commands.
pub fn batch_command_line(script: &str, args: &[&str]) -> Option<String> {
    if script.contains(['"', '\0', '\r', '\n']) || script.ends_with('\\') {
        return None;
    }
    let mut line = format!("cmd.exe /e:ON /v:OFF /d /c \"\"{script}\"");
    for arg in args {
        if arg.contains(['\0', '\r', '\n']) {
            return None;
        }
        line.push(' ');
        quote_batch(&mut line, arg);
    }
    line.push('"');
    Some(line)
}

fn quote_batch(line: &mut String, arg: &str) {
    let safe = |c: char| c.is_ascii_alphanumeric() || "#$*+-./:?@\\_".contains(c);
    let quoted = arg.is_empty() || arg.ends_with('\\') || !arg.chars().all(safe);
    if quoted {
        line.push('"');
    }
    let mut backslashes = 0;
    for c in arg.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                // Inside quotes cmd wants a doubled quote; the program behind it wants its backslashes doubled.
                line.extend(std::iter::repeat_n('\\', backslashes));
                line.push('"');
                backslashes = 0;
            }
            // `%cd:~,%` is an empty slice of a variable that always exists, so the next `%` stands alone.
            '%' => {
                line.push_str("%%cd:~,");
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(c);
    }
    if quoted {
        line.extend(std::iter::repeat_n('\\', backslashes));
        line.push('"');
    }
}

/// [`candidates`] against the real file system. Quoting is then done by the standard library, which follows the rules
/// of [`command_line`] and [`batch_command_line`].
pub(super) fn resolve_here(
    program: &OsStr,
    path: Option<&OsStr>,
    cwd: Option<&Path>,
) -> Result<PathBuf, SpawnError> {
    let name = program.to_string_lossy().into_owned();
    let path = path
        .map(|path| path.to_string_lossy().into_owned())
        .unwrap_or_default();
    let pathext = std::env::var("PATHEXT").ok();
    let cwd = cwd.map(|cwd| cwd.to_string_lossy());
    match candidates(&name, &path, pathext.as_deref(), cwd.as_deref())
        .into_iter()
        .find(|file| Path::new(file).is_file())
    {
        Some(file) => Ok(PathBuf::from(file)),
        None => Err(Kind::NotOnPath { program: name, path }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p026_programs_are_found_through_pathext() {
        let path = "C:\\Windows;relative;;\"D:\\Program Files\\nodejs\\\"";
        let npx = candidates("npx", path, Some(".EXE;.CMD"), None);
        assert_eq!(
            npx,
            [
                "C:\\Windows\\npx.exe",
                "C:\\Windows\\npx.cmd",
                "D:\\Program Files\\nodejs\\npx.exe",
                "D:\\Program Files\\nodejs\\npx.cmd",
            ]
        );
        assert_eq!(
            candidates("a.Exe", "C:\\b", Some(".EXE"), None),
            ["C:\\b\\a.Exe", "C:\\b\\a.Exe.exe"]
        );
        assert_eq!(candidates("a.b", "C:\\b", Some(".EXE"), None), ["C:\\b\\a.b.exe"]);
        assert_eq!(
            candidates(".\\s", "C:\\b", Some(".CMD"), Some("E:\\w")),
            ["E:\\w\\s.cmd"]
        );
        assert_eq!(
            candidates("C:\\x\\s.cmd", "", Some(".CMD"), Some("E:\\w"))[0],
            "C:\\x\\s.cmd"
        );
        assert_eq!(candidates("x", "C:\\b", None, None).len(), 4);
    }

    #[test]
    fn p026_arguments_of_programs_arrive_unchanged() {
        for (arg, want) in [
            ("plain", "plain"),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a&b", "a&b"),
            ("say \"hi\"", "\"say \\\"hi\\\"\""),
            ("C:\\dir\\", "C:\\dir\\"),
            ("C:\\my dir\\", "\"C:\\my dir\\\\\""),
            ("a\\\"b", "\"a\\\\\\\"b\""),
        ] {
            assert_eq!(
                command_line("p.exe", &[arg]),
                format!("\"p.exe\" {want}"),
                "{arg}"
            );
        }
    }

    #[test]
    fn p026_arguments_of_batch_files_cannot_become_commands() {
        for (arg, want) in [
            ("plain-1.0/x", "plain-1.0/x"),
            ("", "\"\""),
            ("a b&c\"d", "\"a b&c\"\"d\""),
            ("a|b>c^d", "\"a|b>c^d\""),
            ("%PATH%", "\"%%cd:~,%PATH%%cd:~,%\""),
            ("dir\\", "\"dir\\\\\""),
            ("x\\\"y", "\"x\\\\\"\"y\""),
            ("é", "\"é\""),
        ] {
            let line = batch_command_line("C:\\n\\npx.cmd", &[arg]).unwrap();
            assert_eq!(
                line,
                format!("cmd.exe /e:ON /v:OFF /d /c \"\"C:\\n\\npx.cmd\" {want}\""),
                "{arg}"
            );
        }
        for bad in ["a\nb", "a\rb", "a\0b"] {
            assert_eq!(batch_command_line("x.cmd", &[bad]), None);
        }
        assert_eq!(batch_command_line("x\".cmd", &[]), None);
        assert!(is_batch("C:\\a.CMD") && is_batch("b.bat") && !is_batch("c.exe") && !is_batch("cmd"));
    }
}
