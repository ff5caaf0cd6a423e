//! Analyzers: a tokenizer and what is done to its tokens, chosen by name.
//!
//! An analyzer is a small value; what it needs while it works (a buffer to lowercase in, stems it
//! remembers) is the caller's [`Scratch`]. A token's text is borrowed from the source where it
//! stands there as it is and from the scratch otherwise, so tokens cost no allocation.
//!
//! Invariants: positions ascend from 0, one for each token of the tokenizer; a token that is left
//! out (a stop word) leaves its position empty, so that phrases keep their distances. Offsets are
//! those of the whole token in the source, whatever is cut from its text. Texts that differ only in
//! their Unicode form or their apostrophes give the same terms (`forms`).

use frostem::Algorithm;
use gannet_values::Address;

use super::stems::{Stemming, Stems};
use super::words::{Case, Word, Words};
use super::{MAX_TOKEN_CHARACTERS, english, forms, plain};
use crate::base::{Error, Result};

/// The version of everything besides the source that tokens depend on. An index records it, because
/// another version may make other terms.
pub const VERSION: &str = "3 (unicode 17.0, snowball 20261016)";

/// One occurrence of a term in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The term, as it is indexed.
    pub text: &'a str,
    /// Its ordinal among the tokens of the text, from 0; words that were left out count.
    pub position: u32,
    /// The byte offset of its start in the source.
    pub start: usize,
    /// One past its last byte in the source.
    pub end: usize,
}

/// Buffers that an analyzer reuses; keep one per thread.
///
/// It grows to half a mebibyte when an analyzer stems, and is next to nothing otherwise.
#[derive(Debug, Default)]
pub struct Scratch {
    lower: String,
    stems: Stems,
}

/// A way to turn text into terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Analyzer {
    chain: Chain,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Chain {
    #[default]
    Standard,
    Simple,
    Whitespace,
    Keyword,
    Ip,
    English,
    Snowball(Algorithm),
}

/// The longest value that `keyword` looks at. No term is as long, in whatever form it is written.
const KEYWORD_BYTES_MAX: usize = 4 << 10;

/// Snowball's English under a name of its own, because `english` is Lucene's analyzer.
const SNOWBALL_ENGLISH: &str = "snowball_english";

/// The name of [`Analyzer::IP`] in an index.
const IP_NAME: &str = "ip";

impl Analyzer {
    /// The analyzer `keyword`.
    pub const KEYWORD: Analyzer = Analyzer {
        chain: Chain::Keyword,
    };

    /// The analyzer of internet addresses: one term, whose bytes are in their order, and none of a
    /// text that is no address. It belongs to fields of type `ip`, and is not chosen by name.
    pub const IP: Analyzer = Analyzer { chain: Chain::Ip };

    /// Returns the analyzer with a name that an index has.
    pub fn stored(name: &str) -> Result<Analyzer> {
        match name {
            IP_NAME => Ok(Analyzer::IP),
            _ => Analyzer::named(name),
        }
    }

    /// The analyzer called `name`.
    ///
    /// - `standard`: the words of the Unicode standard (UAX #29) and emoji, lowercased; the default
    /// - `simple`: runs of letters, lowercased
    /// - `whitespace`: what stands between white space
    /// - `keyword`: the whole text as one token
    /// - `english`: as Lucene's `EnglishAnalyzer`: possessives, 33 stop words, Porter stems
    /// - `snowball_english`, `french`, `german`, ...: `standard`, then the Snowball stemmer of that
    ///   name
    ///
    /// Terms of all of them are in NFC, and `’` in them is `'`.
    pub fn named(name: &str) -> Result<Analyzer> {
        let chain = match name {
            "standard" => Chain::Standard,
            "simple" => Chain::Simple,
            "whitespace" => Chain::Whitespace,
            "keyword" => Chain::Keyword,
            "english" => Chain::English,
            _ => Chain::Snowball(snowball(name).ok_or_else(|| unknown(name))?),
        };
        Ok(Analyzer { chain })
    }

    /// The names that [`Analyzer::named`] knows.
    pub fn names() -> Vec<&'static str> {
        let own = ["standard", "simple", "whitespace", "keyword", "english"];
        let snowball = Algorithm::all().iter().map(|&algorithm| name_of(algorithm));
        own.into_iter().chain(snowball).collect()
    }

    /// The name it was made from.
    pub fn name(&self) -> &'static str {
        match self.chain {
            Chain::Standard => "standard",
            Chain::Simple => "simple",
            Chain::Whitespace => "whitespace",
            Chain::Keyword => "keyword",
            Chain::Ip => IP_NAME,
            Chain::English => "english",
            Chain::Snowball(algorithm) => name_of(algorithm),
        }
    }

    /// Returns true if a text has one term at most, which stands for all of it.
    pub fn is_whole(&self) -> bool {
        matches!(self.chain, Chain::Keyword | Chain::Ip)
    }

    /// Returns true if it reduces words to their stems.
    pub fn stems(&self) -> bool {
        matches!(self.chain, Chain::English | Chain::Snowball(_))
    }

    /// The analyzer that finds the same words in a text and leaves them as they are.
    pub fn unstemmed(&self) -> Analyzer {
        if self.stems() {
            Analyzer::default()
        } else {
            *self
        }
    }

    /// Bytes that its [`Scratch`] takes at most.
    pub fn scratch_bytes(&self) -> usize {
        match self.chain {
            Chain::English | Chain::Snowball(_) => Stems::MEMORY_BYTES + MAX_TOKEN_CHARACTERS * 16,
            Chain::Keyword => 4 * KEYWORD_BYTES_MAX,
            _ => MAX_TOKEN_CHARACTERS * 8,
        }
    }

    /// A part of a word as it stands in terms: patterns cannot be stemmed, but are lowercased where
    /// words are.
    pub fn part(&self, text: &str) -> String {
        match self.chain {
            Chain::Ip => address_term(text).unwrap_or_else(|| text.to_owned()),
            Chain::Whitespace | Chain::Keyword => {
                forms::canonical(text, &mut String::new()).to_owned()
            }
            _ => lowercase(text, Case::Unicode, &mut String::new()).to_owned(),
        }
    }

    /// Gives the tokens of `text` to `sink`, in order, and returns how many positions the text
    /// takes up.
    ///
    /// The number of positions counts words left out at the end; several values of one field start
    /// theirs after it.
    pub fn analyze(
        &self,
        text: &str,
        scratch: &mut Scratch,
        mut sink: impl FnMut(Token<'_>),
    ) -> u32 {
        self.analyze_while(text, scratch, |token| {
            sink(token);
            true
        })
    }

    /// The same until `sink` says that it wants no more.
    pub fn analyze_while(
        &self,
        text: &str,
        scratch: &mut Scratch,
        mut sink: impl FnMut(Token<'_>) -> bool,
    ) -> u32 {
        match self.chain {
            Chain::Standard => standard(text, &mut scratch.lower, sink),
            Chain::Simple => simple(text, &mut scratch.lower, sink),
            Chain::Whitespace => whitespace(text, &mut scratch.lower, sink),
            Chain::Keyword => keyword(text, &mut scratch.lower, sink),
            Chain::Ip => address(text, sink),
            Chain::English => english(text, scratch, sink),
            Chain::Snowball(algorithm) => {
                let stems = &mut scratch.stems;
                standard(text, &mut scratch.lower, |token| {
                    let text = stems.stem(Stemming::Snowball(algorithm), token.text);
                    sink(Token { text, ..token })
                })
            }
        }
    }
}

fn snowball(name: &str) -> Option<Algorithm> {
    let mut all = Algorithm::all().iter().copied();
    all.find(|&algorithm| name_of(algorithm) == name)
}

fn name_of(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::English => SNOWBALL_ENGLISH,
        other => other.name(),
    }
}

fn unknown(name: &str) -> Error {
    Error::invalid(format!(
        "there is no analyzer {name:?}; choose one of {}",
        Analyzer::names().join(", ")
    ))
}

#[inline]
fn standard(text: &str, lower: &mut String, mut sink: impl FnMut(Token<'_>) -> bool) -> u32 {
    let mut position = 0;
    for Word { start, end, case } in Words::new(text) {
        let term = lowercase(&text[start..end], case, lower);
        position += 1;
        let goes_on = sink(Token {
            text: term,
            position: position - 1,
            start,
            end,
        });
        if !goes_on {
            break;
        }
    }
    position
}

fn english(text: &str, scratch: &mut Scratch, mut sink: impl FnMut(Token<'_>) -> bool) -> u32 {
    let mut position = 0;
    for Word { start, end, case } in Words::new(text) {
        let word = english::without_possessive(&text[start..end]);
        let term = lowercase(word, case, &mut scratch.lower);
        if !english::is_stop_word(term) {
            let text = scratch.stems.stem(Stemming::Porter, term);
            let goes_on = sink(Token {
                text,
                position,
                start,
                end,
            });
            if !goes_on {
                break;
            }
        }
        position += 1;
    }
    position
}

fn simple(text: &str, lower: &mut String, mut sink: impl FnMut(Token<'_>) -> bool) -> u32 {
    let mut position = 0;
    let begins = |c: char| c.is_alphabetic() && !forms::is_mark(c);
    let belongs = |c: char| c.is_alphabetic() || forms::is_mark(c);
    plain::runs(text, begins, belongs, |start, end| {
        let word = &text[start..end];
        let case = if word.is_ascii() {
            Case::Capitals
        } else {
            Case::Unicode
        };
        let text = lowercase(word, case, lower);
        position += 1;
        sink(Token {
            text,
            position: position - 1,
            start,
            end,
        })
    });
    position
}

fn whitespace(text: &str, buffer: &mut String, mut sink: impl FnMut(Token<'_>) -> bool) -> u32 {
    let mut position = 0;
    let not_white = |c: char| !c.is_whitespace();
    plain::runs(text, not_white, not_white, |start, end| {
        let text = forms::canonical(&text[start..end], buffer);
        position += 1;
        sink(Token {
            text,
            position: position - 1,
            start,
            end,
        })
    });
    position
}

fn address(text: &str, mut sink: impl FnMut(Token<'_>) -> bool) -> u32 {
    let Some(term) = address_term(text) else {
        return 0;
    };
    sink(Token {
        text: &term,
        position: 0,
        start: 0,
        end: text.len(),
    });
    1
}

fn address_term(text: &str) -> Option<String> {
    Address::parse(text).map(Address::to_column_string)
}

/// An empty text is a value like any other: it can be searched for.
fn keyword(text: &str, buffer: &mut String, mut sink: impl FnMut(Token<'_>) -> bool) -> u32 {
    let (position, start, end) = (0, 0, text.len());
    let text = if end <= KEYWORD_BYTES_MAX {
        forms::canonical(text, buffer)
    } else {
        text
    };
    sink(Token {
        text,
        position,
        start,
        end,
    });
    1
}

/// `word` in lowercase and in its one form, in `buffer` if it was not.
///
/// Outside ASCII each character becomes one other, whatever stands beside it, as in Lucene: a sigma
/// at the end of a word is like any other, and `İ` becomes a plain `i`.
#[inline]
fn lowercase<'a>(word: &'a str, case: Case, buffer: &'a mut String) -> &'a str {
    match case {
        Case::Lower => return word,
        Case::Capitals => {
            buffer.clear();
            buffer.push_str(word);
            buffer.make_ascii_lowercase();
        }
        Case::Unicode => lowercase_unicode(word, buffer),
    }
    buffer
}

/// Apart from the others, which are most words.
#[inline(never)]
fn lowercase_unicode(word: &str, buffer: &mut String) {
    buffer.clear();
    forms::push_word(word, |c| c.to_lowercase().next().unwrap_or(c), buffer);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    /// `expected`: the terms, each followed by `@` and its position where that is not one after the
    /// last.
    fn check(analyzer: &str, text: &str, expected: &str) {
        let mut found = Vec::new();
        let mut next = 0;
        let mut record = |token: Token<'_>| {
            assert!(text.is_char_boundary(token.start) && text.is_char_boundary(token.end));
            let jump = if token.position == next {
                String::new()
            } else {
                format!("@{}", token.position)
            };
            found.push(format!("{}{jump}", token.text));
            next = token.position + 1;
        };
        let analyzer = Analyzer::named(analyzer).unwrap();
        analyzer.analyze(text, &mut Scratch::default(), &mut record);
        assert_eq!(found.join("|"), expected, "{} of {text:?}", analyzer.name());
    }

    #[test]
    fn standard_lowercases_words_of_every_script() {
        check("standard", "", "");
        check("standard", " \u{feff} — !? ", "");
        check("standard", "The Quick don't", "the|quick|don't");
        check(
            "standard",
            "ÉCOLE Straße ΟΔΟΣ İstanbul",
            "école|straße|οδοσ|istanbul",
        );
        check("standard", "Привет МИР", "привет|мир");
        check("standard", "東京タワー 2024", "東|京|タワー|2024");
        check("standard", "한국어 ไทย هذا", "한국어|ไ|ท|ย|هذا");
        check("standard", "a\0b", "a|b");
        check(
            "standard",
            "Cafe\u{301} ÅNGSTRÖM A\u{30a}",
            "café|ångström|å",
        );
        check(
            "standard",
            "h\u{331} \u{1e96} H\u{331}",
            "\u{1e96}|\u{1e96}|\u{1e96}",
        );
        check("standard", "rock’n‘roll＇s l’", "rock'n'roll's|l");
        check("standard", "go 🚀! ❤️ ❤ 👍🏽 3️⃣ © ™ # *", "go|🚀|❤|❤|👍🏽|3⃣");
    }

    #[test]
    fn simple_whitespace_and_keyword() {
        check("simple", "Don't R2D2 Öl", "don|t|r|d|öl");
        check("simple", "Cafe\u{301}s \u{301}a 🚀", "cafés|a");
        check("whitespace", " C++ Wi-Fi\u{3000}x ", "C++|Wi-Fi|x");
        check("whitespace", "Cafe\u{301} O’Neil", "Café|O'Neil");
        check("keyword", "Cafe\u{301} de l’Île", "Café de l'Île");
        check("keyword", " Two Words ", " Two Words ");
        check("keyword", "", "");
    }

    #[test]
    fn english_is_as_lucene_has_it() {
        check(
            "english",
            "The quick brown foxes' don't dog's running",
            "quick@1|brown|fox|don't|dog|run",
        );
        check("english", "to be or not to be", "");
        check("english", "O’Neil's IS US, flies", "o'neil|us@2|fli");
        check("english", "Archaeology of the skies", "archaeolog|ski@3");
        check("english", "CAFÉS’S the naïve", "café|naïv@2");
        check("english", "doesn’t doesn't", "doesn't|doesn't");
    }

    #[test]
    fn languages_stem() {
        check("french", "Les chevaux mangeaient", "le|cheval|mang");
        check("french", "l’avion l'avion", "avion|avion");
        check("german", "Die Automaten", "die|automat");
        check("snowball_english", "Generously running", "generous|run");
        check("porter", "as", "a");
    }

    #[test]
    fn the_version_names_the_tables_of_unicode() {
        let (major, minor, _) = unicode_segmentation::UNICODE_VERSION;
        assert!(VERSION.contains(&format!("unicode {major}.{minor}")));
        let versions = [
            unicode_properties::UNICODE_VERSION,
            unicode_segmentation::UNICODE_VERSION,
        ];
        assert_eq!(versions[0], versions[1]);
        assert_eq!(
            unicode_normalization::UNICODE_VERSION,
            (major as u8, minor as u8, 0)
        );
    }

    #[test]
    fn every_name_is_known_and_unknown_ones_are_answered_with_the_list() {
        for name in Analyzer::names() {
            assert_eq!(Analyzer::named(name).unwrap().name(), name);
        }
        let error = Analyzer::named("klingon").unwrap_err().to_string();
        assert!(
            error.contains("\"klingon\"") && error.contains("standard, simple"),
            "{error}"
        );
    }

    fn terms(analyzer: &Analyzer, text: &str) -> Vec<(String, u32)> {
        let (mut terms, mut scratch) = (Vec::new(), Scratch::default());
        analyzer.analyze(text, &mut scratch, |token| {
            terms.push((token.text.to_owned(), token.position));
        });
        terms
    }

    /// The longest term that an index takes.
    const TERM_BYTES_MAX: usize = 1_020;

    /// Checks that `text` and what is the same in Unicode give the same terms, in NFC.
    fn check_forms(text: &str) {
        let forms = [text.nfc().collect::<String>(), text.nfd().collect()];
        for name in [
            "standard",
            "simple",
            "whitespace",
            "keyword",
            "english",
            "french",
        ] {
            if name == "keyword" && forms[0].len() > TERM_BYTES_MAX {
                continue;
            }
            let analyzer = Analyzer::named(name).unwrap();
            let expected = terms(&analyzer, text);
            for form in &forms {
                assert_eq!(
                    terms(&analyzer, form),
                    expected,
                    "{name} of {text:?} as {form:?}"
                );
            }
            for (term, _) in expected
                .iter()
                .filter(|_| name != "french" && name != "english")
            {
                assert_eq!(*term, term.nfc().collect::<String>(), "{name} of {text:?}");
                assert_eq!(analyzer.part(term), *term, "{name}");
            }
        }
    }

    #[test]
    fn every_character_gives_the_same_terms_in_each_form() {
        let changes = |c: &char| !std::iter::once(*c).eq(std::iter::once(*c).nfd());
        for c in ('\u{80}'..=char::MAX).filter(changes) {
            // Of the 11,172 syllables of Hangul some are enough.
            if !('\u{ac00}'..='\u{d7a3}').contains(&c) || (c as u32).is_multiple_of(97) {
                check_forms(&format!("a{c} {c}b 1{c}2 {c}"));
            }
        }
    }

    /// A selector is left out of terms, and the marks around it are put in their order then.
    #[test]
    fn marks_around_a_variation_selector_have_one_order() {
        for text in ["\u{e9}\u{316}\u{fe0f}\u{5c1}", "👩\u{316}\u{fe0f}\u{5c1}"] {
            check_forms(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn texts_that_are_the_same_give_the_same_terms(
            text in "([a-zA-Z]{1,4}|[0-9 '.]|[éßñİǅÅῼϓ]|[’‘＇]|[\u{300}\u{301}\u{308}\u{316}\u{331}\u{345}\u{304}\u{200d}]|[👩🏽🇩🇪❤\u{fe0f}\u{20e3}#]|[אשׁ]|[ガか\u{3099}東]|[한글\u{1100}\u{1161}\u{11a8}]|[क़\u{93c}\u{9c7}\u{9be}]){0,24}"
        ) {
            check_forms(&text);
        }

        #[test]
        fn long_words_are_cut_alike(unit in "[éåẖ한a]{1,3}", count in 100..300usize) {
            check_forms(&unit.repeat(count));
        }

        #[test]
        fn tokens_have_the_offsets_of_their_source(text in "([a-z]{1,4}|[ ’]|[éß]|[\u{301}\u{308}]|[🚀❤\u{fe0f}]){0,24}") {
            let standard = Analyzer::default();
            standard.analyze(&text, &mut Scratch::default(), |token| {
                let source = &text[token.start..token.end];
                let plain = source.to_lowercase().replace('’', "'").replace('\u{fe0f}', "");
                assert_eq!(token.text, plain.nfc().collect::<String>(), "{source:?}");
            });
        }
    }

    #[test]
    fn offsets_are_of_the_source_and_positions_count_to_the_end() {
        let text = "the Dog’s of";
        let mut tokens = Vec::new();
        let english = Analyzer::named("english").unwrap();
        let positions = english.analyze(text, &mut Scratch::default(), |token| {
            tokens.push((token.start, token.end, token.position));
        });
        assert_eq!((tokens, positions), (vec![(4, 11, 1)], 3));
    }
}
