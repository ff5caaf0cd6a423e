//! Turns errors of the command line into one line that says what to write instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use super::command::{Command, Given};
use crate::failure::{Failure, Outcome};

/// Commands and options that are gone or not there yet, each with the sentence that answers it.
const RENAMED: [(&str, &str); 15] = [
    ("--facets", FACETS),
    ("--aggs", FACETS),
    ("--group-by", FACETS),
    ("--distinct", COLLAPSING),
    ("--unique", COLLAPSING),
    ("--sort-by", SORTING),
    ("--order-by", SORTING),
    ("--orderby", SORTING),
    ("--reverse", SORTING),
    ("--asc", SORTING),
    ("--desc", SORTING),
    ("clean", "`clean` is now part of `gannet vacuum INDEX`"),
    ("--full", "`vacuum --full` is now `gannet rebuild INDEX`"),
    (
        "--text",
        "--text is gone: text is what every command prints without --json, in a pipe too",
    ),
    (
        "--order",
        "--order is gone: `gannet rebuild INDEX` keeps the order of the documents",
    ),
];

const FACETS: &str = "values are counted by --facet: `--facet category:20` has the 20 most frequent ones, and `--aggregate FILE` \
                      takes aggregations as JSON";

const COLLAPSING: &str =
    "one hit for each value of a field is shown by --collapse: `--collapse category`";

const SORTING: &str = "hits are ordered by --sort: `--sort date` has the least first, `--sort -date,price` the greatest date, and \
                       of equal dates the least price";

/// A query of several words without quotation marks looks like a query and IDs.
const QUERY_AND_IDS: &str =
    "expected IDs or --query, found both: put a query of several words between quotation marks";

/// The prefix of advice in the parser's messages.
const TIP: &str = "tip: ";

/// Commands whose last argument is a query.
const WITH_QUERY: [&str; 2] = ["search", "export"];

impl Given {
    /// The arguments of this process, or why they cannot be understood.
    pub fn from_command_line() -> Outcome<Given> {
        let words: Vec<_> = std::env::args_os().collect();
        let parsed = Given::try_parse_from(&words);
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.collect();
        let given = parsed.map_err(|error| match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let _ = error.print();
                Failure::said(1)
            }
            _ if error.use_stderr() => Failure::caller(sentence(&error, &words)),
            _ => {
                // Help and version go to standard output; a closed pipe wants no more of them.
                let _ = error.print();
                Failure::said(0)
            }
        })?;
        match given.option_behind(&words) {
            None => Ok(given),
            Some(option) => Err(Failure::caller(format!(
                "{option} comes after --, where nothing is an option: write {option} before --; to search \
                 for it as text, put the whole query between quotation marks"
            ))),
        }
    }

    /// The first of several words behind `--` that is the name of an option of the command.
    fn option_behind<'w>(&self, words: &'w [String]) -> Option<&'w str> {
        let (name, taken) = match &self.command {
            Command::Search(arguments) => ("search", &arguments.query),
            Command::Export(arguments) => ("export", &arguments.query),
            Command::Get(arguments) => ("get", &arguments.ids),
            Command::Delete(arguments) => ("delete", &arguments.ids),
            _ => return None,
        };
        if taken.len() < 2 {
            return None;
        }
        let options = options(name);
        let behind = words.iter().skip_while(|word| *word != "--").skip(1);
        let mut names = behind.map(|word| word.split('=').next().unwrap_or_default());
        names.find(|name| options.iter().any(|option| option == name))
    }
}

/// The names of all options of a command, with their hyphens.
fn options(command: &str) -> Vec<String> {
    option_names(command, |_| true)
}

/// The names of those of them that take a value.
fn options_with_values(command: &str) -> Vec<String> {
    option_names(command, |option| option.get_action().takes_values())
}

fn option_names(command: &str, is_wanted: impl Fn(&clap::Arg) -> bool) -> Vec<String> {
    let mut all = Given::command();
    all.build();
    let options = all.find_subcommand(command).into_iter();
    let options = options.flat_map(clap::Command::get_arguments);
    let options = options.filter(|option| is_wanted(option));
    let names = options.flat_map(|option| {
        let long = option.get_long().map(|name| format!("--{name}"));
        let short = option.get_short().map(|name| format!("-{name}"));
        long.into_iter().chain(short)
    });
    names.collect()
}

/// Returns the parser's message and its advice, without the usage, as one line.
fn sentence(error: &clap::Error, words: &[String]) -> String {
    if let Some(renamed) = renamed(error) {
        return renamed.to_owned();
    }
    if let Some(advice) = query_with_hyphen(error, words) {
        return advice;
    }
    if let Some(near) = near_command(error) {
        return near;
    }
    let text = error.render().to_string();
    if error.kind() == ErrorKind::ArgumentConflict && text.contains("--query") {
        return QUERY_AND_IDS.to_owned();
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let mut paragraphs = text.split("\n\n");
    let message = one_line(paragraphs.next().unwrap_or_default());
    let lines = paragraphs.flat_map(str::lines);
    let tips = lines.filter_map(|line| line.trim().strip_prefix(TIP));
    let advice: Vec<String> = tips.map(one_line).collect();
    if advice.is_empty() {
        format!("{message} (--help says more)")
    } else {
        format!("{message}: {} (--help says more)", advice.join("; "))
    }
}

/// Returns the replacement of a command or an option that is gone.
fn renamed(error: &clap::Error) -> Option<&'static str> {
    let kind = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    let Some(ContextValue::String(given)) = error.get(kind) else {
        return None;
    };
    let renamed = RENAMED.iter().find(|(old, _)| old == given);
    renamed.map(|(_, sentence)| *sentence)
}

/// Of the commands that look like what was given the one that does most.
fn near_command(error: &clap::Error) -> Option<String> {
    let given = error.get(ContextKind::InvalidSubcommand)?;
    let ContextValue::Strings(near) = error.get(ContextKind::SuggestedSubcommand)? else {
        return None;
    };
    // The parser has the nearest last.
    let near = near.last()?;
    Some(format!(
        "there is no command '{given}': did you mean '{near}'? (--help says more)"
    ))
}

/// Returns the advice to write `--` before a query that begins with a hyphen, where the parser took
/// it for options.
fn query_with_hyphen(error: &clap::Error, words: &[String]) -> Option<String> {
    let (kind, is_start) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, true),
        // The rest of a word was taken for the value of an option of one letter.
        ErrorKind::ValueValidation => (ContextKind::InvalidValue, false),
        _ => return None,
    };
    let Some(ContextValue::String(part)) = error.get(kind) else {
        return None;
    };
    let command = words
        .iter()
        .find(|word| WITH_QUERY.contains(&word.as_str()))?;
    let is_of = |word: &str| {
        let letters = word
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| {
            if is_start {
                part.strip_prefix('-')
                    .is_some_and(|letter| letters.contains(letter))
            } else {
                letters.len() > part.len() && letters.ends_with(part.as_str())
            }
        })
    };
    let word = words.iter().find(|word| is_of(word))?;
    let query = query_words(command, words);
    let query: Vec<String> = query.iter().map(|word| quoted(word)).collect();
    Some(format!(
        "{word} is no option of `gannet {command}`: a query with a word that begins with '-' comes after '--', \
         as in `gannet {command} INDEX -- {}` (--help says more)",
        query.join(" ")
    ))
}

/// Returns the words of a command line that are the query: all but existing options, their values
/// and the index.
fn query_words<'w>(command: &str, words: &'w [String]) -> Vec<&'w str> {
    let valued = options_with_values(command);
    let options = options(command);
    let mut query = Vec::new();
    let mut words = words.iter().skip_while(|word| *word != command).skip(1);
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or_default();
        if word == "--" {
            query.extend(words.by_ref().map(String::as_str));
        } else if valued.iter().any(|option| option == word) {
            words.next();
        } else if !options.iter().any(|option| option == name) {
            query.push(word.as_str());
        }
    }
    query.split_off(query.len().min(1))
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.:+".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<String> {
        let arguments = ["gannet"].iter().chain(arguments);
        arguments.map(|word| (*word).to_owned()).collect()
    }

    fn said(arguments: &[&str]) -> String {
        let words: Vec<String> = words(arguments);
        let said = sentence(&Given::try_parse_from(&words).unwrap_err(), &words);
        assert!(!said.contains('\n'), "{said}");
        said
    }

    #[test]
    fn what_is_missing_is_named_in_one_line() {
        assert!(said(&["index", "a"]).contains("<FILE>"));
    }

    #[test]
    fn what_is_misspelt_is_answered_with_what_is_near() {
        for (arguments, near) in [
            (&["serch", "a", "b"][..], "did you mean 'search'?"),
            (&["search", "a", "b", "--ofset", "3"], "'--offset'"),
            (&["index", "a", "b", "--durability", "sink"], "sync"),
        ] {
            let said = said(arguments);
            assert!(said.contains(near), "{said}");
        }
    }

    #[test]
    fn a_query_that_begins_with_a_hyphen_stands_behind_two() {
        for (arguments, proposed) in [
            (&["search", "a", "-whale"][..], "search INDEX -- -whale`"),
            (
                &["search", "a", "whale", "-white"],
                "search INDEX -- whale -white`",
            ),
            (
                &["search", "a", "-k", "3", "it's", "-white", "--json"],
                "INDEX -- 'it'\\''s' -white`",
            ),
            (&["search", "a", "-b c"], "search INDEX -- '-b c'`"),
            (&["search", "a", "--count", "-whale"], "INDEX -- -whale`"),
            (&["export", "a", "-whale"], "export INDEX -- -whale`"),
            (&["search", "a", "-kraken"], "search INDEX -- -kraken`"),
        ] {
            let said = said(arguments);
            let rule = "begins with '-' comes after '--'";
            assert!(said.contains(rule) && said.contains(proposed), "{said}");
        }
        for other in [&["get", "a", "-b"][..], &["search", "a", "b", "-k", "x"]] {
            assert!(!said(other).contains("begins with"));
        }
    }

    #[test]
    fn numbers_that_are_none_are_answered_with_what_is_expected() {
        for (arguments, expected) in [
            (&["search", "a", "b", "-k", "abc"][..], "0 or more"),
            (&["search", "a", "b", "-k", "-1"], "0 or more"),
            (&["search", "a", "b", "--offset", "-1"], "0 or more"),
            (&["search", "a", "b", "--memory", "-5"], "512MiB"),
            (&["bench", "a", "b", "-k", "-5"], "0 or more"),
        ] {
            let said = said(arguments);
            assert!(said.contains(expected) && !said.contains("query"), "{said}");
        }
    }

    #[test]
    fn options_behind_two_hyphens_are_told() {
        let behind = |arguments: &[&str]| {
            let words = words(arguments);
            let given = Given::try_parse_from(&words).unwrap();
            given.option_behind(&words).map(str::to_owned)
        };
        for (arguments, option) in [
            (
                &["search", "a", "--", "-whale", "--count"][..],
                Some("--count"),
            ),
            (&["search", "a", "whale", "--", "-k", "5"], Some("-k")),
            (&["search", "a", "--", "whale", "--limit"], Some("--limit")),
            (&["search", "a", "--", "whale", "--json"], Some("--json")),
            (
                &["export", "a", "--", "whale", "--format"],
                Some("--format"),
            ),
            (&["delete", "a", "--", "x", "--dry-run"], Some("--dry-run")),
            (&["get", "a", "--", "x", "--fields=id"], Some("--fields")),
            (&["search", "a", "--", "-k"], None),
            (&["search", "a", "--", "-whale --count"], None),
            (&["search", "a", "--count", "--", "-whale", "-shark"], None),
        ] {
            assert_eq!(behind(arguments).as_deref(), option, "{arguments:?}");
        }
    }

    #[test]
    fn options_of_other_programs_name_those_of_this_one() {
        for (option, right) in [
            ("--group-by", "--facet category:20"),
            ("--aggs", "--aggregate FILE"),
            ("--order-by", "--sort date"),
            ("--desc", "--sort -date"),
        ] {
            let said = said(&["search", "a", "b", option]);
            assert!(said.contains(right) && !said.contains("similar"), "{said}");
        }
    }

    #[test]
    fn verbs_that_are_gone_name_the_new_ones() {
        assert!(said(&["clean", "a"]).contains("gannet vacuum"));
        assert!(said(&["vacuum", "a", "--full"]).contains("gannet rebuild"));
        assert!(said(&["vacuum", "a", "--order", "kept"]).contains("gannet rebuild"));
    }
}
