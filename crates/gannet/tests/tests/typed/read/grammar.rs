//! The grammar over tokens: clauses, conjunctions, alternatives, groups.

use gannet::Operator;

use super::joining::{Clause, Item, check_reach, is_boosted_alone, joined};
use super::pieces::text_of;
use super::tokens::{Sign, Token};
use super::{Leaf, Node, Wrong};

pub struct Reader<'a> {
    tokens: Vec<Token>,
    at: usize,
    operator: Operator,
    fields: &'a [&'a str],
}

impl<'a> Reader<'a> {
    pub fn new(tokens: Vec<Token>, operator: Operator, fields: &'a [&'a str]) -> Reader<'a> {
        Reader {
            tokens,
            at: 0,
            operator,
            fields,
        }
    }

    /// Reads all tokens.
    pub fn read(mut self) -> Result<Node, Wrong> {
        self.check_balance()?;
        let items = self.items(None)?;
        Ok(joined(items, self.operator, 0))
    }

    fn check_balance(&self) -> Result<(), Wrong> {
        let mut open = 0;
        for token in &self.tokens {
            match token {
                Token::Open => open += 1,
                Token::Close { .. } if open == 0 => return Err("nothing to close"),
                Token::Close { .. } => open -= 1,
                _ => {}
            }
        }
        if open > 0 {
            Err("a parenthesis that is not closed")
        } else {
            Ok(())
        }
    }

    fn takes(&mut self, is_wanted: fn(&Token) -> bool) -> bool {
        let takes = self.tokens.get(self.at).is_some_and(is_wanted);
        self.at += usize::from(takes);
        takes
    }

    fn items(&mut self, field: Option<&str>) -> Result<Vec<Item>, Wrong> {
        let mut items = Vec::new();
        while self
            .tokens
            .get(self.at)
            .is_some_and(|token| !matches!(token, Token::Close { .. }))
        {
            let mut item = vec![self.conjunction(field)?];
            while self.takes(|token| matches!(token, Token::Or)) {
                item.push(self.conjunction(field)?);
            }
            items.push(item);
        }
        check_reach(&items)?;
        Ok(items)
    }

    fn conjunction(&mut self, field: Option<&str>) -> Result<Vec<Clause>, Wrong> {
        let mut clauses = vec![self.clause(field)?];
        while self.takes(|token| matches!(token, Token::And)) {
            clauses.push(self.clause(field)?);
        }
        Ok(clauses)
    }

    fn clause(&mut self, field: Option<&str>) -> Result<Clause, Wrong> {
        let (mut required, mut excluded, mut filters, mut signed) = (false, false, false, false);
        while let Some(Token::Sign(sign)) = self.tokens.get(self.at) {
            match sign {
                Sign::Require => required = true,
                Sign::Exclude => excluded = !excluded,
                Sign::Filter => filters = true,
            }
            self.at += 1;
        }
        // Two negations cancel each other.
        signed |= required || excluded || filters;
        let is_group = self.is_group();
        let (node, boosted) = self.primary(field)?;
        if boosted && (excluded || filters) {
            return Err("a boost where nothing scores");
        }
        Ok(Clause {
            node,
            required,
            excluded,
            filters,
            signed,
            boosted,
            is_group,
        })
    }

    /// Returns true if parentheses come next, behind a field or not.
    fn is_group(&self) -> bool {
        let behind = usize::from(matches!(
            self.tokens.get(self.at),
            Some(Token::Field { .. })
        ));
        matches!(self.tokens.get(self.at + behind), Some(Token::Open))
    }

    fn primary(&mut self, field: Option<&str>) -> Result<(Node, bool), Wrong> {
        let token = self.tokens[self.at].clone();
        self.at += 1;
        match token {
            Token::Field { name, .. } => self.primary(Some(&name)),
            Token::Open => self.group(field),
            Token::Everything { boosted } => Ok((Node::Everything, boosted)),
            Token::Star { boosted } => match field {
                None => Ok((Node::Everything, boosted)),
                Some("_exists_") => Err("a pattern of field names"),
                Some(name) => Ok((Node::Exists(name.to_owned()), boosted)),
            },
            Token::Leaf { leaf, boosted } => Ok((self.leaf(leaf, field)?, boosted)),
            _ => Err("unreachable"),
        }
    }

    fn group(&mut self, field: Option<&str>) -> Result<(Node, bool), Wrong> {
        let items = self.items(field)?;
        let Some(Token::Close { minimum, boosted }) = self.tokens.get(self.at).cloned() else {
            return Err("unreachable");
        };
        self.at += 1;
        let operator = if minimum > 0 {
            Operator::Or
        } else {
            self.operator
        };
        let boosted = boosted || minimum == 0 && is_boosted_alone(&items);
        let node = joined(items, operator, minimum);
        match &node {
            Node::Bool { should, .. } if should.len() < minimum => Err("more than there are"),
            _ => Ok((node, boosted)),
        }
    }

    fn leaf(&self, leaf: Leaf, field: Option<&str>) -> Result<Node, Wrong> {
        let is_value = field.is_some_and(|name| name == "id" || name == "_exists_");
        let leaf = match leaf {
            Leaf::Pattern {
                pieces,
                slop,
                quoted: true,
            } if is_value => Leaf::Phrase {
                text: text_of(&pieces),
                slop,
            },
            Leaf::Word { text, .. } => Leaf::Word {
                text,
                all: self.operator == Operator::And,
            },
            other => other,
        };
        match (&leaf, field) {
            (Leaf::Word { text, .. } | Leaf::Phrase { text, slop: 0 }, Some("_exists_"))
                if !self.fields.contains(&text.as_str()) =>
            {
                Err("a field that does not exist")
            }
            (Leaf::Word { text, .. } | Leaf::Phrase { text, slop: 0 }, Some("_exists_")) => {
                Ok(Node::Exists(text.clone()))
            }
            (_, Some("_exists_")) => Err("a field that does not exist"),
            (Leaf::Word { .. } | Leaf::Parts { .. } | Leaf::Phrase { slop: 0, .. }, Some("id"))
            | (_, None) => Ok(Node::Leaf {
                field: field.map(str::to_owned),
                leaf,
            }),
            (_, Some("id")) => Err("an ID in part"),
            (_, Some(name)) => Ok(Node::Leaf {
                field: Some(name.to_owned()),
                leaf,
            }),
        }
    }
}
