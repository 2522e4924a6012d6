//! The texts of a column while it is read: each different one once, with its number.

use super::cell::{Meaning, is_code};
use super::format::Format;
use crate::files::cells::Texts;
use crate::files::{Cells, Column, MISSING_CODE, number_text};

/// Texts in order of appearance, and the code of each row.
#[derive(Default)]
pub(crate) struct Dictionary {
    known: Vec<String>,
    /// Codes of the texts by their hashes, at the first free place; `MISSING_CODE` is a free place. The length is a power of two.
    places: Vec<u32>,
    codes: Vec<u32>,
    /// The first word, not an empty cell and not declared, that counts as missing among texts.
    pub word: Option<String>,
}

impl Dictionary {
    /// Appends a cell of a column.
    pub(crate) fn add(&mut self, text: &str, column: &Column, format: &Format) {
        let code = match format.meaning(text.as_bytes()) {
            // In a column of texts NA may be a word, and a number that means a missing cell among numbers a code.
            Meaning::Missing if column.is_numeric() || format.is_missing(text.as_bytes()) => {
                if self.word.is_none() && !text.is_empty() && !format.missing.iter().any(|declared| declared == text) {
                    self.word = Some(text.to_owned());
                }
                MISSING_CODE
            }
            // Among numbers, only those written like codes keep their digits.
            Meaning::Number(value) if !is_code(text.as_bytes()) && !column.is_raw() => self.code(&number_text(value)),
            _ => self.code(text),
        };
        self.codes.push(code);
    }

    /// Appends the cells of a later part.
    pub(crate) fn append(&mut self, more: Self) {
        let codes: Vec<u32> = more.known.iter().map(|text| self.code(text)).collect();
        self.word = self.word.take().or(more.word);
        self.codes.extend(more.codes.into_iter().map(|code| codes.get(code as usize).copied().unwrap_or(MISSING_CODE)));
    }

    /// The code of a text, which is added if it is new.
    fn code(&mut self, text: &str) -> u32 {
        if 2 * self.known.len() >= self.places.len() {
            self.grow();
        }
        let place = self.place(text);
        if self.places[place] == MISSING_CODE {
            self.places[place] = self.known.len() as u32;
            self.known.push(text.to_owned());
        }
        self.places[place]
    }

    /// The place of a text, or the free one where it belongs.
    fn place(&self, text: &str) -> usize {
        let most = self.places.len() - 1;
        // FNV-1a; its low bits are good once the high ones are added.
        let hash = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut place = (hash ^ hash >> 32) as usize & most;
        while self.known.get(self.places[place] as usize).is_some_and(|known| known != text) {
            place = (place + 1) & most;
        }
        place
    }

    fn grow(&mut self) {
        self.places = vec![MISSING_CODE; (4 * self.known.len()).next_power_of_two().max(64)];
        for code in 0..self.known.len() {
            let place = self.place(&self.known[code]);
            self.places[place] = code as u32;
        }
    }

    /// The cells with sorted levels.
    pub(crate) fn sorted(mut self) -> Cells {
        let mut ranks = vec![0; self.known.len()];
        let known: Texts = self.known.into_iter().zip(0..).collect();
        for (rank, &code) in known.values().enumerate() {
            ranks[code as usize] = rank as u32;
        }
        for code in &mut self.codes {
            *code = ranks.get(*code as usize).copied().unwrap_or(MISSING_CODE);
        }
        Cells::Categorical { codes: self.codes, levels: known.into_keys().collect() }
    }
}
