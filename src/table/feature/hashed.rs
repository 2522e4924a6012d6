//! A category of any texts, as the hash of each (Weinberger et al. 2009, "Feature hashing for large scale multitask learning"): one of the inputs is 1 or -1, by
//! the FNV-1a hash of the text's bytes, whose bits are mixed as SplitMix64 does. No list of levels is kept, so that a model stays small and takes texts that training did not see; two texts may
//! share an input, half of the time with opposite signs. Texts are compared as they are written: `1.0` is another one than `1`.

use std::collections::HashSet;

use super::Feature;
use super::kind::{FeatureKind, Fit, Inputs, NamedEncoding, Role, Seen, TrainingRows};
use crate::error::Result;
use crate::math::splitmix::mixed;
use crate::record;
use crate::table::rows::{ColumnRows, MISSING, NoteKind};

/// Encoding of a column of texts by their hashes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HashedFeature {
    /// The column.
    pub name: String,
    /// Number of inputs, a power of two.
    pub buckets: u32,
    /// A text of the training rows.
    pub example: String,
    /// Whether rows with a missing cell are used.
    pub takes_missing: bool,
    /// Whether training rows had missing cells, which are then the empty text.
    pub has_gaps: bool,
}

record! { HashedFeature { name, buckets, example, takes_missing, has_gaps = false } }

/// Inputs for each distinct text of the training rows, and their least and greatest number.
const PER_TEXT: usize = 2;
const BUCKETS: [usize; 2] = [16, 1024];

impl HashedFeature {
    /// The input of a text, and its value.
    fn place(&self, text: &str) -> (usize, f32) {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
        // FNV-1a leaves most bits of a short text alone.
        let hash = mixed(hash);
        (hash as usize & (self.buckets as usize - 1), if hash >> 63 == 0 { 1.0 } else { -1.0 })
    }
}

impl FeatureKind for HashedFeature {
    fn name(&self) -> &str {
        &self.name
    }

    fn inputs(&self) -> usize {
        self.buckets as usize
    }

    fn role(&self) -> Role {
        Role::Category
    }

    fn seen(&self) -> Seen<'_> {
        let missing = if self.has_gaps { "a level of its own" } else { "counts as no text" };
        let missing = self.takes_missing.then_some(missing);
        Seen::Texts { example: &self.example, what: "texts by their hashes", missing }
    }

    fn doc(&self) -> &'static str {
        "a hashed category is one input per bucket, all 0 but the one at hash modulo buckets, which is 1, or -1 if the hash's highest bit is set; hash is the \
         64-bit FNV-1a hash of the text's UTF-8 bytes, mixed as the output of SplitMix64; a missing cell is the empty text with has_gaps, and else all 0"
    }

    fn takes_missing(&self) -> bool {
        self.takes_missing
    }

    fn is_sound(&self) -> bool {
        self.buckets.is_power_of_two()
    }

    fn write(&self, cells: &mut ColumnRows<'_>, x: Inputs<'_, '_>) -> Result<()> {
        let texts = cells.column.as_category();
        for (at, inputs) in x.enumerate() {
            let text = texts.text(cells.rows[at] as usize);
            if text.is_none() && !self.takes_missing {
                cells.unusable(at, MISSING.into())?;
                continue;
            }
            if text.is_none() && !self.has_gaps {
                cells.note(at, NoteKind::Filled)?;
                continue;
            }
            let (place, value) = self.place(&text.unwrap_or_default());
            inputs[place] = value;
        }
        Ok(())
    }
}

impl NamedEncoding for HashedFeature {
    const NAME: &str = "hashed";
    const DOC: &str =
        "An input for each hash of the text, whatever the text is; for identifiers of which new ones come";

    fn fit(fit: &Fit<'_>) -> Result<Feature> {
        let TrainingRows { column, rows, .. } = *fit.training;
        let texts = column.as_category();
        let found: HashSet<_> = rows.iter().filter_map(|&row| texts.text(row as usize)).collect();
        let first = rows.iter().find_map(|&row| texts.text(row as usize));
        let example = first.ok_or_else(|| fit.without_values())?.into_owned();
        let [least, most] = BUCKETS;
        Ok(Feature::Hashed(Self {
            name: column.name.clone(),
            buckets: (PER_TEXT * found.len()).next_power_of_two().clamp(least, most) as u32,
            example,
            takes_missing: fit.fills,
            has_gaps: fit.fills && rows.iter().any(|&row| texts.text(row as usize).is_none()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_text_is_that_of_its_hash() {
        // FNV-1a of "", "a" and "zz": cbf29ce484222325, af63dc4c8601ec8c and 08f74e07b5925515; mixed, by another program, f52a15e9a9b5e89b, 02c0bdbf481420f8
        // and df1bf1c734b476c9.
        let hashed = HashedFeature { buckets: 256, ..HashedFeature::default() };
        assert_eq!(["", "a", "zz"].map(|text| hashed.place(text)), [(0x9b, -1.0), (0xf8, 1.0), (0xc9, -1.0)]);
        let few = HashedFeature { buckets: 16, ..HashedFeature::default() };
        assert_eq!(few.place("a"), (0x8, 1.0));
    }
}
