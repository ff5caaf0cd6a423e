//! Parts of the long help beside the options: the query language, the analyzers.
//!
//! A line of a table fits 80 columns, and a paragraph is one line: it is broken where the terminal
//! ends.

/// The query language.
pub const QUERIES: &str = r#"Queries:
  a b              documents with a or b; those with both score higher
  +a b -c          a must match, c must not, b adds to the score
  a AND b          both; also &&
  a OR b           one of them; also ||
  NOT a            all documents without a; also !
  a NOT b, a -b    a without b
  a OR NOT b       a, or whatever has no b
  (a b) AND c      parentheses group
  "a b", "a b"~3   the words in this order; moved by up to 3 positions
  wi-fi            its parts in this order; wi-fi~and: all parts; wi-fi~or: any
  "a b*"           the last word of quotes may have wildcards
  a*, a?c          words of this form: ? is one character, * any; \? is text
  a~1              words at most one edit away
  title:a          a in the field title; title:(a b), title:"a b"
  title:*          documents that have the field; *:* is all, as * alone is
  id:17, id:"a b"  the document with this ID
  price:[5 TO 15.5], price:>100, date:[2020-01 TO now-7d/d], date:>=2020-01
                   values between; [ ] with the ends, { } without, * for no end
  kind:=lamp, kind:=("desk lamp" sofa)
                   documents with one of these as a whole value
  a^2              a counts twice as much
  (a b c)~2        at least two of them; #(a) must match without a score

NOT binds tightest, then AND, then OR; side by side is the loosest: a b AND c is a, or b with c; a OR b -c is a or b, without c. Where a sign or NOT could be read in two ways (a -b OR c, +a OR b), write parentheses.

AND and OR need a clause on both sides, NOT one after it. A boost is a number above 0, and nothing after NOT, - or # has one. All else is an error. The words themselves are written in quotes: "NOT".

A word that the analyzer drops, as english does with stop words, is ignored: the AND whale is whale. If only some of the fields searched drop it, it is not required and only adds to the score.

Without a field, all text fields are searched. A name before a colon must be a field. A colon is text in http://x and std::vec, behind numbers (12:30), behind a backslash (a\:b) and in quotes. A backslash before a letter or digit is text: C:\Users.

Chinese and Japanese have no spaces between words: up to three characters in a row are found in a row, of more their pairs, any of them, or all behind + and AND. Quotes find them all in a row.

A ? that ends the query behind another word is punctuation, and a note says so; (whale?) is a pattern there. A * beside a quote or a parenthesis, or alone, is an error; so are price>5 and /whal.*/, which are price:>5 and whal* here. “a b”, „a b“ and «a b» are "a b".

In a field of stems (english) the end of a pattern is stemmed too: house* is asked as hous*. A pattern of several words (wi-f*, 2020-12*, Wi-Fi~1) is a phrase whose last word is the pattern. Notes say how it is asked.

Ranges compare values: numbers, dates, booleans. The end of a range of dates stands for the whole day, month or year that it is, in UTC, and may be counted from now (now-7d/d). In a field of strings that was indexed whole (gannet index --analyzer code=keyword) they compare bytes. An end of another type than the values is an error.

Limits: a query has at most 64 KiB, 1,024 words, phrases, ranges and parentheses, 32 parentheses open at once, and 4,096 words and patterns over all the fields that it searches. A phrase has at most 1,024 words, a fuzzy term 255 characters, a wildcard pattern 1,024. A prefix, wildcard or range stands for any number of terms, at the end of quotes for the 1,024 most frequent; a fuzzy term for the 50 most similar. A term of more than 1,020 bytes is in no index and matches nothing. A search ends after --timeout.

A hit whose document by itself needs more memory than --memory leaves is shown with its ID and score; the others are shown whole, and the exit code is 1."#;

/// The analyzers, each with a phrase.
pub const ANALYZERS: &str = "Analyzers:
  standard          words as Unicode divides them, and emoji, in lower case (the
                    default)
  simple            runs of letters, in lower case; digits are left out
  whitespace        what stands between white space, as it is
  keyword           the whole value, as it is: for categories, codes, dates
  english           standard, without possessives and 33 stop words, stemmed as
                    in Lucene
  snowball_english  standard, stemmed by Snowball

Snowball stems also arabic, armenian, basque, catalan, czech, danish, dutch, dutch_porter, earlymodernenglish, esperanto, estonian, finnish, french, german, greek, hindi, hungarian, indonesian, irish, italian, lithuanian, lovins, nepali, norwegian, persian, polish, porter, portuguese, romanian, russian, serbian, sesotho, spanish, swedish, tamil, turkish, ukrainian, yiddish; each is standard, stemmed.

Accents count: Naive does not find Naïve. The forms NFC and NFD of Unicode are the same to all analyzers, and so are the apostrophes ' and ’. To standard, simple, english and the stemmers, signs are no part of a word: C++ and C# are c. `gannet analyze --analyzer NAME TEXT` shows the tokens.";

#[cfg(test)]
mod tests {
    use gannet::{Analyzer, Scratch};

    use super::*;

    #[test]
    fn all_analyzers_are_listed() {
        let words = || ANALYZERS.split(|c: char| !c.is_alphanumeric() && c != '_');
        for name in Analyzer::names() {
            assert!(words().any(|word| word == name), "{name}");
        }
    }

    #[test]
    fn what_is_said_of_accents_and_signs_is_true() {
        let tokens = |analyzer: &str, text: &str| {
            let mut tokens = Vec::new();
            let analyzer = Analyzer::named(analyzer).unwrap();
            analyzer.analyze(text, &mut Scratch::default(), |token| {
                tokens.push(token.text.to_owned())
            });
            tokens
        };
        for analyzer in [
            "standard",
            "simple",
            "english",
            "snowball_english",
            "german",
        ] {
            assert_ne!(
                tokens(analyzer, "Naive"),
                tokens(analyzer, "Naïve"),
                "{analyzer}"
            );
            assert_eq!(tokens(analyzer, "C++ C#"), ["c", "c"], "{analyzer}");
        }
        assert_eq!(tokens("simple", "a1b 22"), ["a", "b"]);
    }

    #[test]
    fn tables_fit_a_terminal() {
        for text in [QUERIES, ANALYZERS] {
            let rows = text.lines().filter(|line| line.starts_with("  "));
            assert!(rows.clone().count() > 5);
            rows.for_each(|row| assert!(row.chars().count() <= 80, "{row}"));
        }
    }
}
