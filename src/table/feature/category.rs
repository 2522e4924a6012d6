//! A column of categories: one input per level, 1 for a cell's own level and 0 otherwise; with many levels only the frequent ones have such an
//! input, and the mean targets of a cell's own level are further inputs. All 0 for a level that training did not see.

use super::kind::{FeatureKind, Fit, Inputs, NamedEncoding, Role, Seen, TrainingRows};
use super::{Feature, LevelMeans, Targets, is_list};
use crate::error::Result;
use crate::record;
use crate::table::levels::{MAX_LEVELS, Match, codes_of, count_levels, counted_in, frequent_levels, levels, matches};
use crate::table::rows::{ColumnRows, MISSING, NoteKind};

/// Encoding of a column of categories.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryFeature {
    /// The column.
    pub name: String,
    /// The distinct values of the training rows; with mean targets the most frequent first, and only those if there are too many.
    pub levels: Vec<String>,
    /// Number of training rows of each level.
    pub counts: Vec<u32>,
    /// Level of a missing cell. The number of levels means an input of its own behind theirs. If absent, a missing cell is an error.
    pub impute: Option<u32>,
    /// Mean targets of the levels; empty if each level has an input.
    pub means: LevelMeans,
    /// With mean targets, so many levels, the first ones, also have an input each.
    pub frequent: u32,
}

record! { CategoryFeature { name, levels, counts, impute, means = LevelMeans::default(), frequent = 0 } }

impl CategoryFeature {
    /// The first of the mean targets, which is the number of levels with an input each.
    fn own_inputs(&self) -> usize {
        if self.means.is_empty() { self.levels.len() } else { self.frequent as usize }
    }

    fn level_inputs(&self) -> usize {
        self.own_inputs() + self.means.inputs()
    }

    /// Writes the inputs of a level; the number of levels means a missing cell.
    fn write_level(&self, level: u32, inputs: &mut [f32]) {
        let level = level as usize;
        if level == self.levels.len() {
            inputs[self.level_inputs()] = 1.0;
            return;
        }
        let (own, means) = inputs.split_at_mut(self.own_inputs());
        if let Some(input) = own.get_mut(level) {
            *input = 1.0;
        }
        if !self.means.is_empty() {
            self.means.write(level, self.counts[level], &mut means[..self.means.inputs()]);
        }
    }

    /// Of the inputs of a row, the mean targets.
    fn means_of<'x>(&self, inputs: &'x mut [f32]) -> &'x mut [f32] {
        &mut inputs[self.own_inputs()..self.level_inputs()]
    }

    /// Whether training rows had missing cells, so that they are a level of their own.
    pub fn has_gaps(&self) -> bool {
        self.impute == Some(self.levels.len() as u32)
    }
}

impl FeatureKind for CategoryFeature {
    fn name(&self) -> &str {
        &self.name
    }

    fn inputs(&self) -> usize {
        self.level_inputs() + usize::from(self.has_gaps())
    }

    fn role(&self) -> Role {
        Role::Category
    }

    fn seen(&self) -> Seen<'_> {
        Seen::Levels {
            levels: &self.levels,
            counts: &self.counts,
            missing: self.impute,
            has_means: !self.means.is_empty(),
        }
    }

    fn doc(&self) -> &'static str {
        "a category is one input per level, 1 for its own and 0 else, or with means.priors one for each of the first frequent levels and as many inputs as \
         priors, ((sum + weight * prior) / (count + weight) - prior) / scale of its own level in float64, then float32; a missing cell counts as impute, \
         which for a category may be one input behind these"
    }

    fn takes_missing(&self) -> bool {
        self.impute.is_some()
    }

    fn is_sound(&self) -> bool {
        let levels = self.levels.len();
        is_list(&self.levels, &self.counts)
            && self.impute.is_none_or(|level| level as usize <= levels)
            && (self.means.is_empty() || self.means.is_sound(levels))
            && self.frequent as usize <= levels
    }

    fn write(&self, cells: &mut ColumnRows<'_>, x: Inputs<'_, '_>) -> Result<()> {
        let CategoryFeature { levels, impute, .. } = self;
        let found = matches(cells.column, cells.rows, levels);
        for (at, (inputs, found)) in x.zip(found).enumerate() {
            match (found, impute) {
                (Match::Level(level), _) => self.write_level(level, inputs),
                (Match::Missing, Some(level)) => {
                    self.write_level(*level, inputs);
                    if !self.has_gaps() {
                        cells.note(at, NoteKind::Filled)?;
                    }
                }
                (Match::Missing, None) => cells.unusable(at, MISSING.into())?,
                (Match::Unknown, _) => cells.unseen(at, levels)?,
            }
        }
        Ok(())
    }

    fn learns_unknown(&self) -> bool {
        true
    }

    fn write_training(&self, training: &TrainingRows<'_>, x: Inputs<'_, '_>) -> Result<()> {
        let CategoryFeature { levels, means, .. } = self;
        if !means.is_empty() {
            let (values, classes) = training.targets()?;
            let codes = codes_of(training.column, training.rows, levels);
            let x = x.map(|inputs| self.means_of(inputs));
            means.write_training(&codes, levels.len(), &Targets { values: &values, classes }, training.fold, x);
        }
        Ok(())
    }
}

/// So many levels have an input each, the most frequent ones if there are more; then their mean targets are inputs too. By measurement:
/// besides the mean targets, inputs of the frequent levels matter, for what depends on the level and another column.
const MOST_OWN: usize = 128;
/// So many levels have a mean target; the most frequent ones if there are more.
const MOST_MEANS: usize = 20_000;

impl NamedEncoding for CategoryFeature {
    const NAME: &str = "levels";
    const DOC: &str = "An input for each level; of many levels for the most frequent ones, and mean targets";

    fn fit(fit: &Fit<'_>) -> Result<Feature> {
        let TrainingRows { column, rows, .. } = *fit.training;
        let has_means = fit.has_means && count_levels(column, rows) > MOST_OWN;
        let levels =
            if has_means { frequent_levels(column, rows, MOST_MEANS) } else { levels(column, rows, MAX_LEVELS) };
        let (counts, missing) = counted_in(column, rows, &levels);
        let most = counts.iter().max().copied().unwrap_or(0);
        if most == 0 {
            return Err(fit.without_values());
        }
        let frequent = counts.iter().position(|&count| count == most).unwrap_or(0);
        let of_missing = if missing > 0 { levels.len() } else { frequent };
        let impute = fit.fills.then_some(of_missing as u32);
        let means = if has_means {
            let (values, classes) = fit.training.targets()?;
            LevelMeans::fit(&codes_of(column, rows, &levels), levels.len(), &Targets { values: &values, classes })
        } else {
            LevelMeans::default()
        };
        let frequent = if has_means { MOST_OWN as u32 } else { 0 };
        Ok(Feature::Categorical(Self { name: column.name.clone(), levels, counts, impute, means, frequent }))
    }
}
