//! The texts of a column while it is read: each different one once, with its number.

use super::cell::{Meaning, is_code};
use super::format::Format;
use crate::files::cells::Texts;
use crate::files::{Cells, Column, MISSING_CODE, number_text};
use crate::host::has_room;

/// Texts in order of appearance, and the code of each row.
#[derive(Default)]
pub(crate) struct Dictionary {
    known: Vec<String>,
    /// Codes of the texts by their hashes, at the first free place; `MISSING_CODE` is a free place. The length is a power of two.
    places: Vec<u32>,
    codes: Vec<u32>,
    /// The first word, not an empty cell and not declared, that counts as missing among texts.
    pub word: Option<String>,
    /// So many other parts of the column are read meanwhile, to be appended.
    others: u64,
}

/// So many different texts are added before memory is judged again.
const TEXTS_AT_A_TIME: usize = 4096;

/// Bytes per different text while the texts are sorted: its place in the list that is sorted, in the tree and among the levels.
const SORTED_BYTES: u64 = 100;

impl Dictionary {
    /// Of one of so many parts.
    pub(crate) fn of_part(parts: usize) -> Self {
        Self { others: parts as u64 - 1, ..Self::default() }
    }

    /// Appends a cell of a column. Errors if its texts do not fit in memory.
    pub(crate) fn add(&mut self, text: &str, column: &Column, format: &Format) -> Result<(), String> {
        let code = match format.meaning(text.as_bytes()) {
            // In a column of texts NA may be a word, and a number that means a missing cell among numbers a code.
            Meaning::Missing if column.is_numeric() || format.is_missing(text.as_bytes()) => {
                if self.word.is_none() && !text.is_empty() && !format.missing.iter().any(|declared| declared == text) {
                    self.word = Some(text.to_owned());
                }
                MISSING_CODE
            }
            // Among numbers, only those written like codes keep their digits.
            Meaning::Number(value) if !is_code(text.as_bytes()) && !column.is_raw() => {
                self.code(&number_text(value))?
            }
            _ => self.code(text)?,
        };
        self.codes.push(code);
        Ok(())
    }

    /// Appends the cells of a later part. Errors as [`Self::add`].
    pub(crate) fn append(&mut self, more: Self) -> Result<(), String> {
        self.others = 0;
        self.word = self.word.take().or(more.word);
        let codes: Vec<u32> = more.known.iter().map(|text| self.code(text)).collect::<Result<_, _>>()?;
        self.codes.extend(more.codes.into_iter().map(|code| codes.get(code as usize).copied().unwrap_or(MISSING_CODE)));
        Ok(())
    }

    /// The code of a text, which is added if it is new.
    fn code(&mut self, text: &str) -> Result<u32, String> {
        if 2 * self.known.len() >= self.places.len() {
            self.grow();
        }
        let place = self.place(text);
        if self.places[place] == MISSING_CODE {
            self.places[place] = self.known.len() as u32;
            self.known.push(text.to_owned());
            if self.known.len().is_multiple_of(TEXTS_AT_A_TIME) {
                self.check_room()?;
            }
        }
        Ok(self.places[place])
    }

    /// Errors if its texts could not be sorted any more.
    fn check_room(&self) -> Result<(), String> {
        let texts = self.known.len();
        let needed = SORTED_BYTES * texts as u64 * (1 + self.others);
        has_room(needed, || format!("more than {texts} different texts"))
            .map_err(|what| format!("{what}; use fewer rows, or leave columns of texts out of the file"))
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
