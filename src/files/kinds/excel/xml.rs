//! Splits XML text into tags and texts, as far as workbooks need it: attributes, entities, CDATA. Prefixes of names are dropped; comments,
//! declarations and processing instructions are skipped. Nothing is nested here, so no file can be too deep.

use std::borrow::Cow;

/// A part of the text.
#[derive(Debug, PartialEq)]
pub(crate) enum Part<'a> {
    /// `<name attributes>`; `<name/>` is this and its end.
    Start(&'a str, Attributes<'a>),
    /// `</name>`
    End(&'a str),
    /// Text between tags, with entities replaced.
    Text(Cow<'a, str>),
}

/// The attributes of a tag, as they are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attributes<'a>(&'a str);

/// An iterator over the parts of a text; it ends at the end or where the text is broken, see `is_broken`.
pub(crate) struct Xml<'a> {
    rest: &'a str,
    /// The name whose end follows at once.
    empty: Option<&'a str>,
    /// Whether a tag is not complete.
    pub(crate) is_broken: bool,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), empty: None, is_broken: false }
    }

    /// Consumes the text up to `end`, which is consumed too.
    fn until(&mut self, end: &str) -> Option<&'a str> {
        let found = self.rest.split_once(end);
        self.is_broken |= found.is_none();
        let (before, after) = found?;
        self.rest = after;
        Some(before)
    }

    /// A tag without its brackets. A bracket inside quotes does not end it.
    fn tag(&mut self) -> Option<&'a str> {
        let mut quote = None;
        let end = self.rest.bytes().position(|byte| {
            match (quote, byte) {
                (None, b'>') => return true,
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), byte) if open == byte => quote = None,
                _ => {}
            }
            false
        });
        self.is_broken |= end.is_none();
        let tag = &self.rest[1..end?];
        self.rest = &self.rest[end? + 1..];
        Some(tag)
    }
}

impl<'a> Iterator for Xml<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        if let Some(name) = self.empty.take() {
            return Some(Part::End(name));
        }
        loop {
            if self.rest.is_empty() {
                return None;
            }
            if !self.rest.starts_with('<') {
                let (text, rest) = self.rest.split_at(self.rest.find('<').unwrap_or(self.rest.len()));
                self.rest = rest;
                return Some(Part::Text(unescaped(text)));
            }
            if self.rest.starts_with("<!--") {
                self.until("-->")?;
            } else if let Some(rest) = self.rest.strip_prefix("<![CDATA[") {
                self.rest = rest;
                return self.until("]]>").map(|text| Part::Text(Cow::Borrowed(text)));
            } else if self.rest.starts_with("<?") {
                self.until("?>")?;
            } else if self.rest.starts_with("<!") {
                self.until(">")?;
            } else {
                let tag = self.tag()?;
                if let Some(name) = tag.strip_prefix('/') {
                    return Some(Part::End(local(name.trim_end())));
                }
                let (inside, is_empty) = tag.strip_suffix('/').map_or((tag, false), |inside| (inside, true));
                let (name, attributes) =
                    inside.split_at(inside.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inside.len()));
                self.empty = is_empty.then_some(local(name));
                return Some(Part::Start(local(name), Attributes(attributes)));
            }
        }
    }
}

impl<'a> Attributes<'a> {
    /// The value of the attribute called `name`, whatever its prefix.
    pub(crate) fn get(self, name: &str) -> Option<Cow<'a, str>> {
        let mut rest = self.0;
        loop {
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, behind) = after[1..].split_once(quote)?;
            if local(key.trim()) == name {
                return Some(unescaped(value));
            }
            rest = behind;
        }
    }
}

/// A name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

/// The text with entities replaced; unknown ones stay.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let entity = part.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
        if let Some((letter, rest)) = entity {
            out.push(letter);
            out.push_str(rest);
        } else {
            out.push('&');
            out.push_str(part);
        }
    }
    Cow::Owned(out)
}

fn character(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let hexadecimal = digits.strip_prefix(['x', 'X']);
            let code = hexadecimal.map_or_else(|| digits.parse(), |digits| u32::from_str_radix(digits, 16));
            char::from_u32(code.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_texts_and_entities() {
        let text = "<?xml version=\"1.0\"?><!-- <x> --><a:b c:d=\"1 &gt; 0\" e='>'>x &amp; &#65;&#x42;&no;</a:b><f/><![CDATA[<&]]>";
        let parts: Vec<Part<'_>> = Xml::new(text).collect();
        let Part::Start("b", attributes) = parts[0] else { panic!("{parts:?}") };
        let got = ["d", "e", "f"].map(|name| attributes.get(name).map(Cow::into_owned));
        assert_eq!(got, [Some("1 > 0".into()), Some(">".into()), None]);
        let text = |text: &'static str| Part::Text(Cow::Borrowed(text));
        assert_eq!(parts[1..3], [text("x & AB&no;"), Part::End("b")]);
        assert_eq!(parts[3..], [Part::Start("f", Attributes("")), Part::End("f"), text("<&")]);
    }

    #[test]
    fn what_is_cut_short_is_broken() {
        for text in ["<a", "<!-- x", "<a b=\"", "<![CDATA[x", "<?xml"] {
            let mut xml = Xml::new(text);
            assert_eq!(xml.by_ref().count(), 0);
            assert!(xml.is_broken, "{text}");
        }
    }
}
