use std::borrow::Cow;
use std::fmt::Write;

/// Makes text from a child safe to show: control, bidirectional, invisible and separator characters come out as
/// `⟦U+001B⟧`. Newline and tab stay.
///
/// A terminal acts on such characters, so standard error of a server could otherwise move the cursor, set the window
/// title or hide words.
pub fn shown(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_hidden) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_hidden(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\u{27e6}U+{:04X}\u{27e7}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // The brackets themselves, so that the marks cannot be forged.
        '\u{27e6}' | '\u{27e7}' => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn p190_terminal_commands_become_visible() {
        for (text, want) in [
            ("plain é 🙂\tx\ny", "plain é 🙂\tx\ny"),
            ("a\u{1b}[31mb", "a⟦U+001B⟧[31mb"),
            ("a\u{9b}b\rc\u{7f}", "a⟦U+009B⟧b⟦U+000D⟧c⟦U+007F⟧"),
            ("x\u{202e}y\u{200b}\u{2028}", "x⟦U+202E⟧y⟦U+200B⟧⟦U+2028⟧"),
            ("a\u{e0041}", "a⟦U+E0041⟧"),
            ("⟦U+200B⟧", "⟦U+27E6⟧U+200B⟦U+27E7⟧"),
        ] {
            assert_eq!(shown(text), want);
        }
    }
}
