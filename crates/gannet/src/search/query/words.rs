//! Splits written words, before the analyzer of a field sees them.
//!
//! Most words are a single one to every analyzer. Others are cut into parts (`wi-fi`, `a@b.org`),
//! which are meant in a row. Ideographs and kana are written without spaces between words: a long
//! run of them is a sentence, which hardly any document has as it stands, so that its pairs are
//! asked for.

use std::ops::Range;

use crate::analysis::{Analyzer, Scratch};

/// The most tokens of ideographs and kana in a row that are one phrase.
const RUN_MAX: usize = 3;

/// A token of the analyzer `standard`.
struct TokenPlace {
    place: Range<usize>,
    is_unspaced: bool,
}

/// Returns true if no analyzer makes more than one term of `text`.
pub fn is_single(text: &str) -> bool {
    let is_plain =
        text.chars().all(char::is_alphabetic) || text.bytes().all(|b| b.is_ascii_digit());
    is_plain && matches!(&token_places(text)[..], [only] if only.place == (0..text.len()))
}

/// The parts of a text in which more than [`RUN_MAX`] ideographs or kana stand in a row: the pairs
/// of each such run, which overlap, and what stands between the runs.
pub fn unspaced_parts(text: &str) -> Option<Vec<&str>> {
    if !text.chars().any(is_unspaced) {
        return None;
    }
    let (mut parts, mut between) = (Vec::new(), None::<(usize, usize)>);
    let mut is_long = false;
    for run in token_places(text).chunk_by(follows) {
        let (start, end) = (run[0].place.start, run[run.len() - 1].place.end);
        if run.len() <= RUN_MAX {
            between = Some((between.map_or(start, |(start, _)| start), end));
            continue;
        }
        is_long = true;
        parts.extend(between.take());
        let pairs = run.windows(2);
        parts.extend(pairs.map(|pair| (pair[0].place.start, pair[1].place.end)));
    }
    parts.extend(between);
    is_long.then(|| {
        parts
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect()
    })
}

/// Returns true if `analyzer` makes one term of `text`.
pub fn is_kept_whole(text: &str, analyzer: &Analyzer) -> bool {
    let mut tokens = 0;
    analyzer.analyze_while(text, &mut Scratch::default(), |_| {
        tokens += 1;
        tokens < 2
    });
    tokens == 1
}

fn follows(one: &TokenPlace, next: &TokenPlace) -> bool {
    one.is_unspaced && next.is_unspaced && one.place.end == next.place.start
}

fn token_places(text: &str) -> Vec<TokenPlace> {
    let mut places = Vec::new();
    Analyzer::default().analyze(text, &mut Scratch::default(), |token| {
        let place = token.start..token.end;
        let is_unspaced = text[place.clone()].starts_with(is_unspaced);
        places.push(TokenPlace { place, is_unspaced });
    });
    places
}

/// Returns true if a character is an ideograph or kana.
fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303c}' | '\u{3041}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3347f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_words_are_those_that_every_analyzer_keeps() {
        for text in ["whale", "Straße", "мир", "2020", "한국어"] {
            assert!(is_single(text), "{text}");
            for name in Analyzer::names() {
                let analyzer = Analyzer::named(name).unwrap();
                let mut tokens = 0;
                analyzer.analyze(text, &mut Scratch::default(), |_| tokens += 1);
                assert!(tokens <= 1, "{text} by {name}");
            }
        }
        let long = "a".repeat(300);
        for text in [
            "",
            "wi-fi",
            "R2D2",
            "don't",
            "C++",
            "東京",
            "cafe\u{301}",
            " ",
            &long,
        ] {
            assert!(!is_single(text), "{text}");
        }
    }

    #[test]
    fn long_runs_are_cut_into_pairs() {
        for (text, expected) in [
            ("wi-fi", ""),
            ("東京", ""),
            ("東京都", ""),
            ("東京タワー", ""),
            ("iPhone手机", ""),
            ("2024年3月15日", ""),
            ("東京・大阪", ""),
            ("東京都庁", "東京 京都 都庁"),
            ("我想买一个iPhone手机", "我想 想买 买一 一个 iPhone手机"),
            ("価格の比較2024年", "価格 格の の比 比較 2024年"),
            ("コンピュータの歴史書", "コンピュータの の歴 歴史 史書"),
        ] {
            let parts = unspaced_parts(text).unwrap_or_default();
            assert_eq!(parts.join(" "), expected, "{text}");
        }
    }
}
