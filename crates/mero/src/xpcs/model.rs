//! The model of `mero xpcs`, as the command line gives it.

use crate::Answer;
use meromorph_xpcs::{Convention, Flow, Model, Scaling, SincArgument, check_rule, chosen};

/// The model.
#[derive(clap::Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// A sample at rest, instead of analysis_mode
    #[arg(long, conflicts_with = "laminar_flow")]
    static_mode: bool,
    /// A sample in a laminar shear flow, instead of analysis_mode
    #[arg(long)]
    laminar_flow: bool,
    /// A sample that moves against a reference, instead of analysis_mode
    #[arg(long, conflicts_with_all = ["static_mode", "laminar_flow"])]
    heterodyne: bool,
    /// Contrast and offset: constant, or individual for every angle
    #[arg(long, value_name = "KIND")]
    scaling: Option<String>,
    /// Convention of the flow: code as homodyne computes, theory as its theory says; shear rates differ by about π
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Argument of sinc: `over_2pi` or half
    #[arg(long, value_name = "NAME")]
    sinc_arg: Option<String>,
    /// Power of sinc in g1: 1 or 2
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2))]
    sinc_power: Option<u32>,
    /// Rule of the integrals over time: trapezoid
    #[arg(long, value_name = "NAME")]
    int_rule: Option<String>,
}

impl ModelArgs {
    pub(super) fn flow(&self) -> Option<Flow> {
        match (self.static_mode, self.laminar_flow, self.heterodyne) {
            (true, ..) => Some(Flow::Static),
            (_, true, _) => Some(Flow::Laminar),
            (.., true) => Some(Flow::TwoComponent),
            _ => None,
        }
    }

    /// Whether the command line leaves the scaling to the configuration.
    pub(super) fn has_no_scaling(&self) -> bool {
        self.scaling.is_none()
    }

    /// Changes what the command line says of a model.
    pub(super) fn apply(&self, model: &mut Model) -> Answer {
        if let Some(name) = &self.scaling {
            model.scaling = chosen("scaling", name, &Scaling::ALL)?;
        }
        if let Some(name) = &self.preset {
            model.convention = chosen("preset", name, &Convention::ALL)?;
        }
        if let Some(name) = &self.sinc_arg {
            model.convention.argument = chosen("sinc-arg", name, &SincArgument::ALL)?;
        }
        model.convention.power = self.sinc_power.unwrap_or(model.convention.power);
        if let Some(name) = &self.int_rule {
            check_rule(name).map_err(|error| error.within("int-rule"))?;
        }
        Ok(())
    }
}
