//! Recognises texts that a person means as numbers or dates, in a notation that is not read: `120/80`, `1.2 ± 0.1`, `5'10"`, `lundi 1 janvier 2022`.
//! What is said of such a column then names the notation instead of calling the texts names.

use crate::files::text::missing;
use crate::files::text::reading::Warning;

/// Fewer different texts may be classes such as `1a` or `18-25`.
const MORE_THAN_CLASSES: usize = 10;

/// What is said of such texts, and the remedy.
const LOOKS: &str = "its texts look like numbers or dates in a notation that is not read";
const REMEDY: &str = "write them as plain numbers, or as dates such as 2024-03-01";

/// What numbers and durations may begin with: `0x1F`, `PT30M`, `approx. 5`.
const BEGINNINGS: [&str; 6] = ["0x", "pt", "approx", "ca.", "ca ", "circa "];

/// The first of the texts if nine of ten look like numbers or dates, though none is read as one.
pub(super) fn example(levels: &[String]) -> Option<&String> {
    let texts = || levels.iter().filter(|text| !missing::is_word(text));
    let meant = texts().filter(|text| is_meant(text)).count();
    texts().find(|text| is_meant(text)).filter(|_| 10 * meant >= 9 * texts().count())
}

/// What a person should know about a category of such texts.
pub(super) fn of_category(levels: &[String]) -> Option<(String, Vec<String>)> {
    example(levels).filter(|_| levels.len() > MORE_THAN_CLASSES)?;
    let message = format!("{LOOKS}, so it is a category; if they are, {REMEDY}");
    Some((message, levels.iter().take(2).cloned().collect()))
}

/// What a person should know about a column of such texts that are all different.
pub(super) fn of_unique(column: &str, levels: &[String]) -> Option<Warning> {
    example(levels)?;
    let message = format!(
        "{LOOKS}; they are all different, and it is left out; {REMEDY}, or name it under features to keep it as a category"
    );
    Some(Warning { column: column.into(), message, cells: levels.iter().take(2).cloned().collect() })
}

/// Whether a third of a text is digits, from its first sign on, has a year and another number, or has a time of day.
fn is_meant(text: &str) -> bool {
    let letters = text.chars().filter(|letter| !letter.is_whitespace() && !matches!(letter, '"' | '\'' | '='));
    let digits = letters.clone().filter(|letter| is_digit(*letter)).count();
    let is_first = |letter: char| is_digit(letter) || !letter.is_alphabetic();
    if text.starts_with(is_first) && 3 * digits >= letters.count() {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    if digits > 0 && BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning)) {
        return true;
    }
    let groups: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    let is_year = |group: &&str| group.len() == 4 && (group.starts_with("19") || group.starts_with("20"));
    let is_clock = text
        .as_bytes()
        .windows(3)
        .any(|three| matches!(three, [before, b':', behind] if before.is_ascii_digit() && behind.is_ascii_digit()));
    is_clock || groups.len() > 1 && groups.iter().any(is_year)
}

/// Also those of Arabic and of full width, and fractions.
fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '０'..='９' | '٠'..='٩' | '¼'..='¾')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_meant_as_numbers_or_dates() {
        for text in [
            "120/80",
            "1.2 ± 0.1",
            "5'10\"",
            "0xFF1",
            "5 kg",
            "PT30M",
            "approx. 5",
            "=\"5\"",
            "'5.1",
            "１２",
            "1½",
            "1.2×10^3",
            "13h05",
            "lundi 1 janvier 2022",
            "Montag, 1. Januar 2022",
            "2022年1月",
            "um 12:30",
        ] {
            assert!(is_meant(text), "{text}");
        }
        for text in [
            "12 Main Street",
            "red",
            "A-17",
            "room 12",
            "Corolla 2019",
            "",
            "-",
            "SKU 12 x 14 big",
            "part 5",
            "ca. red",
        ] {
            assert!(!is_meant(text), "{text}");
        }
    }

    #[test]
    fn nine_of_ten_texts_decide() {
        let texts = |odd: usize, count: usize| -> Vec<String> {
            (0..count)
                .map(|i| if i < odd { format!("red {}", ["a", "b", "c"][i % 3]) } else { format!("{i}/80") })
                .collect()
        };
        assert_eq!(example(&texts(1, 10)).map(String::as_str), Some("1/80"));
        assert_eq!(example(&texts(2, 10)), None);
        assert!(of_category(&texts(0, 11)).is_some() && of_category(&texts(0, 10)).is_none());
        assert_eq!(of_unique("bp", &texts(0, 30)).unwrap().cells, ["0/80", "1/80"]);
    }
}
