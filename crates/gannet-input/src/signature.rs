//! Files that are something else than documents, by their first bytes, with what to do about each.

/// The number of first bytes that is enough for all signatures.
pub const SIGNATURE_BYTES: usize = 512;

/// A signature: its place, its bytes, and the sentence on a file that has it.
struct Signature {
    at: usize,
    bytes: &'static [u8],
    said: &'static str,
}

const fn begins(bytes: &'static [u8], said: &'static str) -> Signature {
    Signature { at: 0, bytes, said }
}

const UTF_16: &str = "text in UTF-16: make UTF-8 of it, as with iconv -f UTF-16 -t UTF-8 FILE";
const UTF_32: &str = "text in UTF-32: make UTF-8 of it, as with iconv -f UTF-32 -t UTF-8 FILE";
const TAR: &str =
    "a tar archive: unpack it, as with tar -xf FILE, and name the files or their folder";
const ZIP: &str = "a zip archive (xlsx, docx and epub are such, too): unpack it, as with unzip FILE, and name the files or \
     their folder; of a spreadsheet save CSV";
const PICTURE: &str = "a picture: only text is indexed";

/// The known signatures. Of two that begin alike, the longer one comes first.
const SIGNATURES: [Signature; 36] = [
    begins(b"PK\x03\x04", ZIP),
    begins(b"PK\x05\x06", ZIP),
    begins(b"PK\x07\x08", ZIP),
    begins(
        b"BZh",
        "bzip2: decompress it, as with bzip2 -dc FILE | gannet index INDEX -",
    ),
    begins(
        b"PAR1",
        "Parquet: the Python package adds it (gannet.open(INDEX).add(FILE)); or make CSV or JSON lines of it",
    ),
    begins(
        b"%PDF-",
        "PDF: take the text out of it, as with pdftotext FILE FILE.txt",
    ),
    begins(
        b"%!PS",
        "PostScript: take the text out of it, as with ps2ascii FILE FILE.txt",
    ),
    begins(
        b"SQLite format 3\0",
        "an SQLite database: name a table, as with sqlite3 -json FILE 'SELECT * FROM T' | gannet index INDEX -",
    ),
    Signature {
        at: 257,
        bytes: b"ustar",
        said: TAR,
    },
    begins(b"\xff\xfe\0\0", UTF_32),
    begins(b"\0\0\xfe\xff", UTF_32),
    begins(b"\xff\xfe", UTF_16),
    begins(b"\xfe\xff", UTF_16),
    begins(
        b"7z\xbc\xaf\x27\x1c",
        "a 7z archive: unpack it, as with 7z x FILE, and name the files or their folder",
    ),
    begins(
        b"Rar!\x1a\x07",
        "a RAR archive: unpack it, as with unrar x FILE, and name the files or their folder",
    ),
    begins(
        b"\x04\x22\x4d\x18",
        "lz4: decompress it, as with lz4 -dc FILE | gannet index INDEX -",
    ),
    begins(
        b"LZIP",
        "lzip: decompress it, as with lzip -dc FILE | gannet index INDEX -",
    ),
    begins(
        b"\x5d\0\0",
        "LZMA: decompress it, as with xz --format=lzma -dc FILE | gannet index INDEX -",
    ),
    begins(
        b"\x1f\x9d",
        "compress: decompress it, as with gzip -dc FILE | gannet index INDEX -",
    ),
    begins(b"\xff\x06\0\0sNaPpY", "snappy: decompress it first"),
    begins(
        b"ARROW1\0\0",
        "an Arrow file: the Python package adds its table (pyarrow.feather.read_table)",
    ),
    begins(
        b"FEA1",
        "a Feather file: the Python package adds its table (pyarrow.feather.read_table)",
    ),
    begins(
        b"Obj\x01",
        "Avro: make JSON lines of it, as with avro-tools tojson FILE",
    ),
    begins(
        b"ORC\x08",
        "ORC: the Python package adds its table (pyarrow.orc.read_table)",
    ),
    begins(
        b"ORC\x0a",
        "ORC: the Python package adds its table (pyarrow.orc.read_table)",
    ),
    begins(b"\x89HDF", "HDF5: make CSV or JSON lines of it"),
    begins(
        b"\x93NUMPY",
        "an array of NumPy: make CSV or JSON lines of it",
    ),
    begins(b"\x80\x04\x95", "a pickle of Python: make JSON lines of it"),
    begins(b"\x80\x05\x95", "a pickle of Python: make JSON lines of it"),
    begins(
        b"\xd0\xcf\x11\xe0",
        "an old file of Office (xls, doc): save CSV or text from it",
    ),
    begins(b"{\\rtf", "RTF: save plain text from it"),
    begins(b"\x89PNG", PICTURE),
    begins(b"\xff\xd8\xff", PICTURE),
    begins(b"GIF8", PICTURE),
    begins(b"\x7fELF", "a program: only text is indexed"),
    begins(
        b"version https://git-lfs",
        "a pointer of Git LFS, and not the file: fetch it with git lfs pull",
    ),
];

/// Returns the kind of a file by its first bytes, and the remedy, if it is no text in UTF-8.
pub fn foreign(head: &[u8]) -> Option<&'static str> {
    let mut all = SIGNATURES.iter();
    let found = all.find(|signature| {
        let there = head.get(signature.at..).unwrap_or_default();
        there.starts_with(signature.bytes) && is_meant(signature, head)
    });
    found.map(|signature| signature.said).or_else(|| {
        let is_16 = is_utf_16(head);
        is_16.then_some(UTF_16)
    })
}

/// Returns true if a signature of letters is not the beginning of a text.
fn is_meant(signature: &Signature, head: &[u8]) -> bool {
    let behind = head.get(signature.bytes.len()..).unwrap_or_default();
    match signature.bytes {
        // The size of a block, and the first byte of one or of the end.
        b"BZh" => matches!(behind, [b'1'..=b'9', 0x31 | 0x17, ..]),
        b"PAR1" | b"LZIP" | b"FEA1" | b"GIF8" => is_binary(head),
        _ => true,
    }
}

/// Returns true if bytes are obviously no text: text has no zero bytes, and few others below a
/// blank.
pub fn is_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(SIGNATURE_BYTES)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return true,
    };
    text.chars()
        .any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b'))
}

/// Returns true if every other of the first bytes is zero, as in UTF-16 without a mark.
fn is_utf_16(head: &[u8]) -> bool {
    let (mut even, mut odd) = (0, 0);
    for pair in head.chunks_exact(2).take(32) {
        even += usize::from(pair[0] == 0);
        odd += usize::from(pair[1] == 0);
    }
    let pairs = (head.len() / 2).min(32);
    pairs >= 2 && (even == 0 && odd == pairs || odd == 0 && even == pairs)
}

/// Returns the kind of a text that marks up its words, and the remedy.
pub fn markup(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head).to_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let is_html = ["<!doctype html", "<html", "<head", "<body", "<!--"]
        .iter()
        .any(|tag| text.starts_with(tag))
        || text.starts_with('<') && text.contains("<html");
    match (is_html, text.starts_with('<')) {
        (true, _) => Some(
            "HTML: take the text out of it, as with pandoc -t plain FILE, or index it as it is with --format text",
        ),
        (false, true) => {
            Some("XML: make JSON lines of it, or index it as it is with --format text")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_named() {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"a.txt");
        tar[257..262].copy_from_slice(b"ustar");
        for (head, named) in [
            (&b"PK\x03\x04\x14\0"[..], "zip"),
            (b"BZh91AY&SY", "bzip2"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"%PDF-1.7\n", "PDF"),
            (b"SQLite format 3\0\x10", "SQLite"),
            (&tar, "tar"),
            (b"\xff\xfei\0d\0", "UTF-16"),
            (b"\xff\xfe\0\0i\0\0\0", "UTF-32"),
            (b"i\0d\0,\0t\0", "UTF-16"),
            (b"\0i\0d\0,\0t", "UTF-16"),
            (b"{\\rtf1\\ansi", "RTF"),
        ] {
            let said = foreign(head).unwrap_or_default();
            assert!(said.contains(named), "{named}: {said}");
        }
    }

    #[test]
    fn texts_are_none_of_these() {
        for text in [
            "",
            "{\"id\":1}",
            "id,title\n",
            "PAR1,PAR2\n",
            "BZh is a word\n",
            "GIF89a is old\n",
            "LZIP,x\n",
            "FEA1\n",
            "ORC,elf\n",
            "Obj,1\n",
            "\u{feff}a",
            "é",
            "日本",
        ] {
            assert_eq!(foreign(text.as_bytes()), None, "{text}");
        }
        assert!(is_binary(b"a\0b") && is_binary(b"\xff\xfe") && !is_binary("aé\n\t".as_bytes()));
        assert!(!is_binary(&"é".as_bytes()[..1]));
        assert!(markup(b" <!DOCTYPE HTML>").is_some_and(|said| said.starts_with("HTML")));
        assert!(
            markup(b"<?xml version='1.0'?><html xmlns=''>")
                .is_some_and(|said| said.starts_with("HTML"))
        );
        assert!(markup(b"<rss>").is_some_and(|said| said.starts_with("XML")));
        assert_eq!(markup(b"a < b"), None);
    }
}
