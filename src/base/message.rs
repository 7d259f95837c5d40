//! Messages of bounded length, for errors and the log.

use std::fmt::{self, Display, Write};

/// Largest length of a message in bytes. A longer one is cut at a character boundary and ends in "...".
pub const LIMIT: usize = 1024;

const CUT: &str = "...";

/// One line of text on the stack. A message about a lack of memory must not allocate.
pub struct Message {
    bytes: [u8; LIMIT],
    length: usize,
    is_full: bool,
}

impl Message {
    /// A message without text. [`LIMIT`] bytes can be added.
    pub const fn empty() -> Self {
        Self { bytes: [0; LIMIT], length: 0, is_full: false }
    }

    /// The displayed form of `text` in one line, up to its first NUL.
    pub fn of(text: &dyn Display) -> Self {
        let mut message = Self::empty();
        // The error means that the message is full.
        let _ = write!(message, "{text}");
        message
    }

    /// The text, on one line and without NUL.
    pub fn as_str(&self) -> &str {
        // Only whole characters were appended, so the bytes are valid UTF-8.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Appends `text` if it fits.
    fn append(&mut self, text: &str) -> bool {
        let end = self.length + text.len();
        let Some(space) = self.bytes.get_mut(self.length..end) else { return false };
        space.copy_from_slice(text.as_bytes());
        self.length = end;
        true
    }

    /// Removes characters until "..." fits, and appends it.
    fn cut(&mut self) {
        let longest = LIMIT - CUT.len();
        self.length = self
            .as_str()
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take_while(|end| *end <= longest)
            .last()
            .unwrap_or(0);
        self.append(CUT);
        self.is_full = true;
    }
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.is_full |= c == '\0';
            if self.is_full {
                return Err(fmt::Error);
            }
            let c = if matches!(c, '\n' | '\r') { ' ' } else { c };
            if !self.append(c.encode_utf8(&mut [0; 4])) {
                self.cut();
                return Err(fmt::Error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_that_ends_at_a_nul() {
        assert_eq!(Message::of(&"a\nb\rc").as_str(), "a b c");
        assert_eq!(Message::of(&"path a\0b").as_str(), "path a");
        assert_eq!(Message::of(&"").as_str(), "");
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let fits = "x".repeat(LIMIT);
        assert_eq!(Message::of(&fits).as_str(), fits);
        for letter in ["x", "é", "€", "𝛼"] {
            let text = letter.repeat(LIMIT);
            for lead in 0..5 {
                let text = format!("{}{text}{text}", "y".repeat(lead));
                let message = Message::of(&text);
                let cut = message.as_str();
                let kept = cut.strip_suffix(CUT).unwrap();
                assert!(
                    text.starts_with(kept) && cut.len() <= LIMIT && cut.len() > LIMIT - 4 - CUT.len(),
                    "{letter} {lead}"
                );
            }
        }
    }
}
