//! Options for reading files whose names and first bytes do not tell enough.

use std::path::Path;

use gannet::{Error, Result};

use crate::format::InputFormat;

/// The options for reading files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputOptions {
    /// The format of all files, or the one that the name of each says.
    pub format: Option<InputFormat>,
    /// The separator of the fields of rows; by default their first lines tell it.
    pub delimiter: Option<u8>,
    /// The field of the external IDs, where it is not `id`; it is called `id` in the index.
    pub id: Option<String>,
    /// The endings of the files of a folder that are read, without the dot; if there are none,
    /// those of text files.
    pub endings: Vec<String>,
    /// Set if documents change others, so that none names an operation itself.
    pub is_change: bool,
}

impl InputOptions {
    /// The delimiter that a text says: one character, or the name of one.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for what cannot separate fields.
    pub fn delimiter(text: &str) -> Result<u8> {
        let delimiter = match text {
            "\\t" | "tab" => b'\t',
            "comma" => b',',
            "semicolon" => b';',
            "pipe" => b'|',
            "space" => b' ',
            other => match other.as_bytes() {
                [one] => *one,
                _ => 0,
            },
        };
        match delimiter {
            b'\t' | b' '..=b'~' if !delimiter.is_ascii_alphanumeric() && delimiter != b'"' => {
                Ok(delimiter)
            }
            _ => Err(Error::invalid(format!(
                "expected one sign as the delimiter, such as ';' or '|', or tab, found {text:?}"
            ))),
        }
    }

    /// The format of a file.
    pub(super) fn format_of(&self, path: &Path) -> Option<InputFormat> {
        let format = self.format.or_else(|| InputFormat::of(path));
        // Whoever says what separates fields means rows.
        format.or(self.delimiter.map(|_| InputFormat::Csv))
    }

    /// Rejects what has no meaning for a format.
    pub(super) fn check(&self, file: &str, format: Option<InputFormat>) -> Result<()> {
        let is_rows = matches!(format, Some(InputFormat::Csv | InputFormat::Tsv));
        let is_json = matches!(format, None | Some(InputFormat::Jsonl));
        if self.delimiter.is_some() && !is_rows {
            return Err(Error::invalid(format!(
                "--delimiter says what separates the fields of CSV and TSV, and {file} is read as {}: leave it out, or give \
                 --format csv",
                named(format)
            )));
        }
        if self.id.is_some() && !is_rows && !is_json {
            return Err(Error::invalid(format!(
                "--id names the field of the IDs of JSON, CSV and TSV, and {file} is read as {}, which has IDs of its own: \
                 leave it out",
                named(format)
            )));
        }
        Ok(())
    }
}

fn named(format: Option<InputFormat>) -> String {
    format.unwrap_or(InputFormat::Jsonl).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_signs_or_named() {
        for (text, delimiter) in [
            (";", b';'),
            ("\\t", b'\t'),
            ("\t", b'\t'),
            ("tab", b'\t'),
            ("pipe", b'|'),
        ] {
            assert_eq!(InputOptions::delimiter(text).unwrap(), delimiter, "{text}");
        }
        for text in ["", ";;", "a", "\"", "\n", "é", "\0"] {
            let error = InputOptions::delimiter(text).unwrap_err().to_string();
            assert!(error.contains("one sign"), "{error}");
        }
    }
}
