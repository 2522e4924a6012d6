//! `mero bench claims`: what the guide to training promises of memory, precision, limits and compression, measured on this machine. The rows are written
//! as a part of a Markdown file, between two marks; the rest of the file stays.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::options::hardware::Hardware;
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::Device;
use meromorph::internal::host;
use meromorph::report::Table;
use meromorph_claims::{BATCH, Bench, Claim, WIDTH, measures};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Markdown file whose part about training is replaced, such as docs/CLAIMS.md
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure only the claims of this name, such as recomputation; may be given several times
    #[arg(long, value_name = "NAME", value_parser = measures().map(|(name, _)| name).to_vec(), conflicts_with = "out")]
    only: Vec<String>,
    /// Only few layers and steps, to see that every row can be measured
    #[arg(long)]
    quick: bool,
    /// Print only JSON, one line for each row
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    // Before anything is measured.
    args.out.as_deref().map(around_part).transpose()?;
    let device = args.hardware.open()?;
    let bench = Bench { device: &device, is_quick: args.quick };
    let is_wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let measures: Vec<_> = measures().into_iter().filter(|(name, _)| is_wanted(name)).collect();
    let progress = Progress::of(measures.len() as u64, "claims");
    let mut claims = Vec::new();
    for (name, measure) in measures {
        progress.say(name.to_owned());
        claims.extend(measure(&bench)?);
        progress.step();
    }
    progress.finish();
    if args.json {
        for claim in &claims {
            say_json(&json!({
                "event": "claim", "claim": claim.what, "how": claim.how, "figure": claim.figure, "is_met": claim.is_met,
            }));
        }
    } else {
        let row = |claim: &Claim| {
            let met = claim.is_met.map_or("not measured", |is_met| if is_met { "met" } else { "not met" });
            [claim.what.clone(), claim.figure.clone(), met.to_owned()]
        };
        say(&Table::new(["claim", "measured", ""]).rows(claims.iter().map(row)).text());
    }
    let Some(path) = &args.out else { return Ok(()) };
    let ([before, after], [first, last]) = (around_part(path)?, MARKS);
    host::write_whole(path, format!("{before}{first}{}{last}{after}", part(&claims, &device)).as_bytes())?;
    Ok(())
}

/// The marks around the part of a file that is replaced.
const MARKS: [&str; 2] = ["<!-- written by mero bench claims -->\n", "<!-- end of what mero bench claims writes -->\n"];

/// The text of a file before and after the part for claims. Errors if the file has something else.
fn around_part(path: &Path) -> Answer<[String; 2]> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::usage(format!("{}: cannot be read: {error}", path.display()))),
    };
    let [first, last] = MARKS;
    around(&text).map(|parts| parts.map(str::to_owned)).ok_or_else(|| {
        let (path, first, last) = (path.display(), first.trim_end(), last.trim_end());
        Failure::usage(format!(
            "{path}: has no part for claims: expected a new file, or one with the lines {first} and {last}"
        ))
    })
}

fn around(text: &str) -> Option<[&str; 2]> {
    if text.is_empty() {
        return Some([text; 2]);
    }
    let (before, rest) = text.split_once(MARKS[0])?;
    Some([before, rest.split_once(MARKS[1])?.1])
}

fn part(claims: &[Claim], device: &Device) -> String {
    let info = device.info();
    let mut text = format!(
        "# Claims about training, measured\n\nWritten by `mero bench claims --out docs/CLAIMS.md` on {}. Layers are {WIDTH} wide, steps have {BATCH} rows; \
         times are medians of steps that alternate, with the interval of 95 % in brackets. Between starts of the program, whose memory lies elsewhere, they differ more than that: on two cores by up to 10 %.\n\n| claim | how it is measured | figure | |\n| --- | --- | --- | --- |\n",
        place(info.device, &info.name, info.threads)
    );
    for claim in claims {
        let met = claim.is_met.map_or("not measured", |is_met| if is_met { "met" } else { "**not met**" });
        text += &format!("| {} | {} | {} | {met} |\n", claim.what, claim.how, claim.figure);
    }
    text + "\nOther lines of the guide are asserted by tests: products with Hessians (`cargo test --test engine second_order`), optimisers against torch \
            (`optimizers`, `--lib optim`), what is sent and left out (`compression`), equal bits on every device (`recompute`).\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_between_both_marks_is_replaced() {
        let [first, last] = MARKS;
        assert_eq!(around(""), Some(["", ""]));
        assert_eq!(around(&format!("# Fits\n\n{first}a\n{last}more\n")), Some(["# Fits\n\n", "more\n"]));
        for text in ["# Fits\n", &format!("{first}a\n"), &format!("{last}a\n{first}")] {
            assert_eq!(around(text), None, "{text}");
        }
    }
}
