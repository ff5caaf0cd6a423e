//! What is wrong with a command line, in one line that says what to write instead.

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Given;
use crate::failure::{Failure, Outcome};

/// What commands and options that are gone are called now.
const RENAMED: [(&str, &str); 3] = [
    ("clean", "`clean` is now part of `gannet vacuum INDEX`"),
    ("--full", "`vacuum --full` is now `gannet rebuild INDEX`"),
    (
        "--order",
        "--order is an option of `gannet rebuild INDEX`, which was `vacuum --full`",
    ),
];

/// A query of several words without quotation marks looks like a query and IDs.
const QUERY_AND_IDS: &str =
    "expected IDs or --query, found both: put a query of several words between quotation marks";

/// What introduces advice in the parser's messages.
const TIP: &str = "tip: ";

impl Given {
    /// The arguments of this process, or why they cannot be understood.
    pub fn from_command_line() -> Outcome<Given> {
        Given::try_parse().map_err(|error| match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let _ = error.print();
                Failure::said(1)
            }
            _ if error.use_stderr() => Failure::caller(sentence(&error)),
            _ => {
                // Help and version go to standard output; a closed pipe wants no more of them.
                let _ = error.print();
                Failure::said(0)
            }
        })
    }
}

/// What is wrong, in one line: the parser's message and its advice without its usage.
fn sentence(error: &clap::Error) -> String {
    if let Some(renamed) = renamed(error) {
        return renamed.to_owned();
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
    match advice.is_empty() {
        true => format!("{message} (--help says more)"),
        false => format!("{message}: {} (--help says more)", advice.join("; ")),
    }
}

/// What took the place of a command or an option that is gone.
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

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &[&str]) -> String {
        let arguments = ["gannet"].iter().chain(arguments);
        let said = sentence(&Given::try_parse_from(arguments).unwrap_err());
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
            (&["serch", "a", "b"][..], "'search'"),
            (&["search", "a", "b", "--ofset", "3"], "'--offset'"),
            (&["search", "a", "-b c"], "'-- -b"),
            (&["index", "a", "b", "--durability", "sink"], "sync"),
        ] {
            let said = said(arguments);
            assert!(said.contains(near), "{said}");
        }
    }

    #[test]
    fn verbs_that_are_gone_name_the_new_ones() {
        assert!(said(&["clean", "a"]).contains("gannet vacuum"));
        assert!(said(&["vacuum", "a", "--full"]).contains("gannet rebuild"));
        assert!(said(&["vacuum", "a", "--order", "kept"]).contains("gannet rebuild"));
    }
}
