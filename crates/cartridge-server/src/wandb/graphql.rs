//! As much of GraphQL as clients speak: documents with operations and fragments, read into
//! selections, which are answered field by field.
//!
//! There is no schema: what is not known is answered with null, so that a client that asks for
//! more than we have goes on. What a document can cost is bounded by its tokens, its depth and the
//! number of fields that are answered.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Tokens of a document.
const MOST_TOKENS: usize = 20_000;

/// How deep selections, lists and objects may be nested.
const MOST_DEPTH: usize = 40;

/// Fields that one answer may have.
const MOST_FIELDS: usize = 500_000;

/// What a document asks for.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) operations: Vec<Operation>,
    fragments: HashMap<String, Vec<Selection>>,
}

/// A query or a mutation.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) is_mutation: bool,
    pub(super) name: Option<String>,
    /// Values of variables that are not given.
    defaults: Vec<(String, Literal)>,
    selections: Vec<Selection>,
}

#[derive(Debug)]
enum Selection {
    Field(Field),
    Fragment(String, Vec<Condition>),
    Inline(Vec<Self>, Vec<Condition>),
}

#[derive(Debug)]
struct Field {
    /// The name in the answer.
    alias: String,
    name: String,
    arguments: Vec<(String, Literal)>,
    conditions: Vec<Condition>,
    selections: Vec<Selection>,
}

/// `@include(if: ...)` or `@skip(if: ...)`.
#[derive(Debug)]
struct Condition {
    is_wanted: bool,
    of: Literal,
}

#[derive(Debug)]
enum Literal {
    Variable(String),
    Plain(Value),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// The arguments of a field.
#[derive(Debug, Default)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// An argument that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// An argument that is a whole number, as a number or in digits.
    pub(super) fn whole(&self, name: &str) -> Option<i64> {
        let value = self.0.get(name)?;
        value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
    }

    /// An argument as it stands; null where there is none.
    pub(super) fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }
}

/// What a field is answered with.
pub(super) enum Answer<N> {
    /// Something of which fields can be asked.
    Node(N),
    /// Data; of an object, the selected fields are taken.
    Plain(Value),
    /// Several.
    List(Vec<Self>),
}

impl<N> Answer<N> {
    /// Nothing.
    pub(super) const NULL: Self = Self::Plain(Value::Null);
}

impl Document {
    /// Reads a document.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text)?;
        Parser { tokens: &tokens, at: 0, depth: 0 }.document()
    }

    /// The operation with a name, or the only one.
    pub(super) fn operation(&self, name: Option<&str>) -> Result<&Operation, String> {
        match (name.filter(|name| !name.is_empty()), self.operations.as_slice()) {
            (Some(name), all) => {
                let found = all.iter().find(|operation| operation.name.as_deref() == Some(name));
                found.ok_or_else(|| format!("there is no operation `{name}` in the query"))
            }
            (None, [only]) => Ok(only),
            (None, _) => Err("name one of the operations".to_owned()),
        }
    }

    /// Answers an operation: `resolve` answers a field of a node.
    pub(super) fn answer<N>(
        &self,
        operation: &Operation,
        variables: &Value,
        root: &N,
        resolve: &mut impl FnMut(&N, &str, &Arguments) -> Result<Answer<N>, String>,
    ) -> Result<Value, String> {
        let mut values = Map::new();
        for (name, literal) in &operation.defaults {
            values.insert(name.clone(), literal.value(&Map::new()));
        }
        for (name, value) in variables.as_object().into_iter().flatten() {
            values.insert(name.clone(), value.clone());
        }
        let mut walk = Walk { document: self, values: &values, n_fields: 0, resolve };
        let mut answer = Map::new();
        walk.select(&operation.selections, &Source::Node(root), 0, &mut answer)?;
        Ok(Value::Object(answer))
    }
}

enum Source<'a, N> {
    Node(&'a N),
    Plain(&'a Map<String, Value>),
}

struct Walk<'a, R> {
    document: &'a Document,
    values: &'a Map<String, Value>,
    n_fields: usize,
    resolve: &'a mut R,
}

impl<R> Walk<'_, R> {
    fn select<N>(
        &mut self,
        selections: &[Selection],
        source: &Source<'_, N>,
        depth: usize,
        answer: &mut Map<String, Value>,
    ) -> Result<(), String>
    where
        R: FnMut(&N, &str, &Arguments) -> Result<Answer<N>, String>,
    {
        if depth > MOST_DEPTH {
            return Err("the query is nested too deeply".to_owned());
        }
        for selection in selections {
            self.n_fields += 1;
            if self.n_fields > MOST_FIELDS {
                return Err("the query asks for too much at once".to_owned());
            }
            match selection {
                Selection::Field(field) => {
                    if !self.is_wanted(&field.conditions) {
                        continue;
                    }
                    let value = match source {
                        Source::Node(node) => {
                            let arguments = self.arguments(&field.arguments);
                            let found = (self.resolve)(node, &field.name, &arguments)?;
                            self.fold(found, &field.selections, depth + 1)?
                        }
                        Source::Plain(fields) => {
                            let found = fields.get(&field.name).cloned().unwrap_or_default();
                            self.fold(Answer::<N>::Plain(found), &field.selections, depth + 1)?
                        }
                    };
                    merge(answer, &field.alias, value);
                }
                Selection::Inline(inner, conditions) if self.is_wanted(conditions) => {
                    self.select(inner, source, depth + 1, answer)?;
                }
                Selection::Fragment(name, conditions) if self.is_wanted(conditions) => {
                    let fragment = self.document.fragments.get(name);
                    let fragment = fragment.ok_or_else(|| format!("no fragment `{name}`"))?;
                    self.select(fragment, source, depth + 1, answer)?;
                }
                Selection::Inline(..) | Selection::Fragment(..) => {}
            }
        }
        Ok(())
    }

    fn fold<N>(
        &mut self,
        found: Answer<N>,
        selections: &[Selection],
        depth: usize,
    ) -> Result<Value, String>
    where
        R: FnMut(&N, &str, &Arguments) -> Result<Answer<N>, String>,
    {
        let mut answer = Map::new();
        match found {
            Answer::Node(node) => {
                self.select(selections, &Source::Node(&node), depth, &mut answer)?;
            }
            Answer::List(items) => {
                let folded = items.into_iter().map(|item| self.fold(item, selections, depth + 1));
                return folded.collect();
            }
            Answer::Plain(Value::Object(fields)) if !selections.is_empty() => {
                self.select(selections, &Source::<N>::Plain(&fields), depth, &mut answer)?;
            }
            Answer::Plain(Value::Array(items)) if !selections.is_empty() => {
                let items = items.into_iter().map(Answer::<N>::Plain).collect();
                return self.fold(Answer::List(items), selections, depth);
            }
            Answer::Plain(value) => return Ok(value),
        }
        Ok(Value::Object(answer))
    }

    fn is_wanted(&self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| {
            condition.of.value(self.values).as_bool().unwrap_or(true) == condition.is_wanted
        })
    }

    fn arguments(&self, given: &[(String, Literal)]) -> Arguments {
        let values = given.iter().map(|(name, literal)| (name.clone(), literal.value(self.values)));
        Arguments(values.collect())
    }
}

/// Adds a field; one that is selected twice has the fields of both.
fn merge(answer: &mut Map<String, Value>, name: &str, value: Value) {
    match (answer.get_mut(name), value) {
        (Some(Value::Object(there)), Value::Object(more)) => {
            for (name, value) in more {
                merge(there, &name, value);
            }
        }
        (_, value) => _ = answer.insert(name.to_owned(), value),
    }
}

impl Literal {
    fn value(&self, variables: &Map<String, Value>) -> Value {
        match self {
            Self::Variable(name) => variables.get(name).cloned().unwrap_or_default(),
            Self::Plain(value) => value.clone(),
            Self::List(items) => items.iter().map(|item| item.value(variables)).collect(),
            Self::Object(fields) => {
                let fields = fields.iter();
                fields.map(|(name, value)| (name.clone(), value.value(variables))).collect()
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    Number(String),
    Sign(char),
    Spread,
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if tokens.len() >= MOST_TOKENS {
            return Err("the query is too long".to_owned());
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if first.is_whitespace() || matches!(first, ',' | '\u{feff}') {
            rest = &rest[first.len_utf8()..];
        } else if first == '#' {
            rest = rest.find(['\n', '\r']).map_or("", |end| &rest[end..]);
        } else if let Some(after) = rest.strip_prefix("...") {
            tokens.push(Token::Spread);
            rest = after;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..end].to_owned()));
            rest = &rest[end..];
        } else if first == '-' || first.is_ascii_digit() {
            let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
            let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
            tokens.push(Token::Number(rest[..end].to_owned()));
            rest = &rest[end..];
        } else if let Some(after) = rest.strip_prefix("\"\"\"") {
            let end = after.find("\"\"\"").ok_or("a text does not end")?;
            tokens.push(Token::Text(after[..end].to_owned()));
            rest = &after[end + 3..];
        } else if first == '"' {
            let end = end_of_text(rest).ok_or("a text does not end")?;
            let text = serde_json::from_str(&rest[..end]).map_err(|_| "a text is damaged")?;
            tokens.push(Token::Text(text));
            rest = &rest[end..];
        } else if "{}()[]:!$=@|&".contains(first) {
            tokens.push(Token::Sign(first));
            rest = &rest[1..];
        } else {
            return Err(format!("`{first}` has no meaning in a query"));
        }
    }
    Ok(tokens)
}

fn end_of_text(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut idx = 1;
    while idx < bytes.len() {
        match bytes[idx] {
            b'\\' => idx += 2,
            b'"' => return Some(idx + 1),
            _ => idx += 1,
        }
    }
    None
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn document(mut self) -> Result<Document, String> {
        let mut document = Document::default();
        while self.at < self.tokens.len() {
            if self.is_sign('{') {
                let selections = self.selections()?;
                let (defaults, name) = (Vec::new(), None);
                let operation = Operation { is_mutation: false, name, defaults, selections };
                document.operations.push(operation);
                continue;
            }
            match self.name()?.as_str() {
                word @ ("query" | "mutation") => {
                    let is_mutation = word == "mutation";
                    document.operations.push(self.operation(is_mutation)?);
                }
                "fragment" => {
                    let name = self.name()?;
                    self.type_condition()?;
                    self.conditions()?;
                    document.fragments.insert(name, self.selections()?);
                }
                word => return Err(format!("`{word}` is not understood here")),
            }
        }
        Ok(document)
    }

    fn operation(&mut self, is_mutation: bool) -> Result<Operation, String> {
        let name = match self.peek() {
            Some(Token::Name(_)) => Some(self.name()?),
            _ => None,
        };
        let mut defaults = Vec::new();
        if self.take_sign('(') {
            while !self.take_sign(')') {
                self.sign('$')?;
                let variable = self.name()?;
                self.sign(':')?;
                self.skip_type()?;
                if self.take_sign('=') {
                    defaults.push((variable, self.literal()?));
                }
                self.conditions()?;
            }
        }
        self.conditions()?;
        Ok(Operation { is_mutation, name, defaults, selections: self.selections()? })
    }

    fn selections(&mut self) -> Result<Vec<Selection>, String> {
        self.deeper()?;
        self.sign('{')?;
        let mut selections = Vec::new();
        while !self.take_sign('}') {
            selections.push(self.selection()?);
        }
        self.depth -= 1;
        Ok(selections)
    }

    fn selection(&mut self) -> Result<Selection, String> {
        if self.peek() == Some(&Token::Spread) {
            self.at += 1;
            if let Some(Token::Name(name)) = self.peek()
                && name != "on"
            {
                let name = self.name()?;
                return Ok(Selection::Fragment(name, self.conditions()?));
            }
            if !self.is_sign('{') && !self.is_sign('@') {
                self.type_condition()?;
            }
            let conditions = self.conditions()?;
            return Ok(Selection::Inline(self.selections()?, conditions));
        }
        let first = self.name()?;
        let (alias, name) = match self.take_sign(':') {
            true => (first, self.name()?),
            false => (first.clone(), first),
        };
        let mut arguments = Vec::new();
        if self.take_sign('(') {
            while !self.take_sign(')') {
                let argument = self.name()?;
                self.sign(':')?;
                arguments.push((argument, self.literal()?));
            }
        }
        let conditions = self.conditions()?;
        let selections = if self.is_sign('{') { self.selections()? } else { Vec::new() };
        Ok(Selection::Field(Field { alias, name, arguments, conditions, selections }))
    }

    /// Directives; those that say whether something is wanted are kept.
    fn conditions(&mut self) -> Result<Vec<Condition>, String> {
        let mut conditions = Vec::new();
        while self.take_sign('@') {
            let name = self.name()?;
            if !self.take_sign('(') {
                continue;
            }
            while !self.take_sign(')') {
                self.name()?;
                self.sign(':')?;
                let of = self.literal()?;
                if matches!(name.as_str(), "include" | "skip") {
                    conditions.push(Condition { is_wanted: name == "include", of });
                }
            }
        }
        Ok(conditions)
    }

    fn type_condition(&mut self) -> Result<(), String> {
        match self.name()?.as_str() {
            "on" => self.name().map(|_| ()),
            word => Err(format!("`{word}` stands where `on` should")),
        }
    }

    fn skip_type(&mut self) -> Result<(), String> {
        self.deeper()?;
        if self.take_sign('[') {
            self.skip_type()?;
            self.sign(']')?;
        } else {
            self.name()?;
        }
        self.take_sign('!');
        self.depth -= 1;
        Ok(())
    }

    fn literal(&mut self) -> Result<Literal, String> {
        self.deeper()?;
        let literal = match self.next()? {
            Token::Sign('$') => Literal::Variable(self.name()?),
            Token::Sign('[') => {
                let mut items = Vec::new();
                while !self.take_sign(']') {
                    items.push(self.literal()?);
                }
                Literal::List(items)
            }
            Token::Sign('{') => {
                let mut fields = Vec::new();
                while !self.take_sign('}') {
                    let name = self.name()?;
                    self.sign(':')?;
                    fields.push((name, self.literal()?));
                }
                Literal::Object(fields)
            }
            Token::Text(text) => Literal::Plain(text.into()),
            Token::Number(number) => {
                let number = serde_json::from_str(&number);
                Literal::Plain(number.map_err(|_| "a number is damaged".to_owned())?)
            }
            Token::Name(name) => Literal::Plain(match name.as_str() {
                "true" => true.into(),
                "false" => false.into(),
                "null" => Value::Null,
                word => word.into(),
            }),
            other => return Err(format!("{other:?} stands where a value should")),
        };
        self.depth -= 1;
        Ok(literal)
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        match self.depth > MOST_DEPTH {
            true => Err("the query is nested too deeply".to_owned()),
            false => Ok(()),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Result<Token, String> {
        let token = self.peek().cloned().ok_or("the query ends in the middle")?;
        self.at += 1;
        Ok(token)
    }

    fn name(&mut self) -> Result<String, String> {
        match self.next()? {
            Token::Name(name) => Ok(name),
            other => Err(format!("{other:?} stands where a name should")),
        }
    }

    fn is_sign(&self, sign: char) -> bool {
        self.peek() == Some(&Token::Sign(sign))
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn sign(&mut self, sign: char) -> Result<(), String> {
        match self.take_sign(sign) {
            true => Ok(()),
            false => Err(format!("`{sign}` is missing")),
        }
    }
}

#[cfg(test)]
mod tests;
