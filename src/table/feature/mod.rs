//! Encodings of columns, fitted to training rows, one file each: each column becomes one or more inputs of the model. To add one: a file with a record of its
//! statistics that implements `FeatureKind`, and its word in the list here, with `name` behind it if it is an encoding of categories that an option can
//! name (`NamedEncoding`).

mod bins;
mod kind;
mod level_means;

pub use bins::Bins;
pub use date::Cycle;
pub use kind::{FeatureKind, Fit, Inputs, NamedEncoding, Role, Seen, TrainingRows};
pub use level_means::LevelMeans;

pub(crate) use date::Moments;
pub(crate) use level_means::Targets;

use crate::error::Result;
use crate::record;

/// An encoding of categories: its name, what it makes of a column, and how it is fitted.
pub type Encoding = (&'static str, &'static str, fn(&Fit<'_>) -> Result<Feature>);

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident($file:ident::$record:ident) $($named:ident)?;)+) => {
        $(mod $file;
        pub use $file::$record;)+

        /// Encoding of one feature column.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Feature {
            $($(#[$doc])* $name($record),)+
        }

        record! { enum Feature { $($name(_)),+ } }

        impl Feature {
            /// Everything about it.
            pub fn as_kind(&self) -> &dyn FeatureKind {
                match self {
                    $(Self::$name(record) => record,)+
                }
            }
        }

        /// The encodings of categories that an option can name.
        pub static CATEGORY_ENCODINGS: &[Encoding] = &[$($({
            let $named: Encoding =
                (<$record as NamedEncoding>::NAME, <$record as NamedEncoding>::DOC, <$record as NamedEncoding>::fit);
            $named
        },)?)+];
    };
}

features! {
    /// A number.
    Numeric(number::NumberFeature);
    /// A category.
    Categorical(category::CategoryFeature) name;
    /// A date or a time.
    Date(date::DateFeature);
    /// A category by the hashes of its texts.
    Hashed(hashed::HashedFeature) name;
}

impl Feature {
    /// The column.
    pub fn name(&self) -> &str {
        self.as_kind().name()
    }

    /// Number of inputs that it is encoded as.
    pub fn inputs(&self) -> usize {
        self.as_kind().inputs()
    }

    /// What the training rows had in the column.
    pub fn seen(&self) -> Seen<'_> {
        self.as_kind().seen()
    }

    /// Which of its inputs are bins.
    pub(crate) fn bins(&self) -> std::ops::Range<usize> {
        self.as_kind().number().map_or(0..0, |number| 1..1 + number.bins.len())
    }

    /// Whether a missing cell has a fill-in value or an input of its own.
    pub fn takes_missing(&self) -> bool {
        self.as_kind().takes_missing()
    }
}

/// Whether values can be divided by it.
pub(crate) fn is_scale(scale: f64) -> bool {
    scale > 0.0 && scale.is_finite()
}

/// Whether there is a count for each of some levels.
pub(crate) fn is_list(levels: &[String], counts: &[u32]) -> bool {
    !levels.is_empty() && levels.len() == counts.len()
}
