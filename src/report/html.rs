//! Text in HTML and SVG.

/// Text that is safe between tags and in quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            letter => out.push(letter),
        }
    }
    out
}

/// An element around a text, or nothing if the text is empty. `tag` may carry attributes.
pub(super) fn element(tag: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let name = tag.split(' ').next().unwrap_or(tag);
    format!("<{tag}>{}</{name}>", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_shown_and_not_obeyed() {
        assert_eq!(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
        assert_eq!(element("p class=\"note\"", "1 < 2"), "<p class=\"note\">1 &lt; 2</p>");
        assert_eq!(element("p", ""), "");
    }
}
