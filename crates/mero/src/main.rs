//! The command `mero`: each subcommand parses its arguments and files, calls one module of the engine and prints the result.

mod allocator;
mod bench;
mod completions;
mod config;
mod contrast;
mod demo;
mod devices;
mod doctor;
mod eval;
mod experiment;
mod export;
mod failure;
mod fit;
mod info;
mod line;
mod man;
mod options;
mod plan;
mod predict;
mod profile;
mod recall;
mod saved;
mod serve;
mod session;
mod show;
mod terminal;
mod train;
mod web;
mod xpcs;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use serde_json::json;

pub(crate) use failure::{Answer, Failure};
use line::Line;
use meromorph::internal::host;
use terminal::printable::shortened;
use terminal::spelled::spelled;
use terminal::{color, console, progress};

/// Trains and runs models, on any GPU and on plain CPUs
#[derive(Parser)]
#[command(name = "mero", bin_name = "mero", version, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    general: General,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(clap::Args)]
#[command(next_help_heading = "Every command")]
struct General {
    /// File with options of the command, by their long names: epochs = 100, hidden = [64, 64]. Options of the command line win
    #[arg(long, global = true, value_name = "TOML")]
    config: Option<PathBuf>,
    /// Colours in help and messages; auto has them on a terminal, unless NO_COLOR is set or TERM is dumb
    #[arg(long, global = true, default_value = "auto", value_name = "WHEN")]
    color: color::Color,
    /// Show no progress on a terminal
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Train on a table: split it, fit a model, stop early by validation, report on held-out test rows
    Train(Box<train::Args>),
    /// Train on a built-in data set, as a first look and a reference
    Demo(Box<demo::Args>),
    /// Fit a formula to columns of a table: parameters with standard errors and intervals
    Fit(Box<fit::Args>),
    /// Learn a memory from labelled rows, such as embeddings: a map under which rows of the same class are near each other
    Contrast(Box<contrast::Args>),
    /// Find the nearest rows of a memory for each row of a table, or say that nothing in memory is like it
    Recall(Box<recall::Args>),
    /// Fit two-time correlations of X-ray scattering (XPCS): a sample that diffuses, at rest or in a shear flow
    Xpcs(Box<xpcs::Args>),
    /// Predict every row of a table with a trained model
    Predict(predict::Args),
    /// Measure a trained model on a table with the target column
    Eval(eval::Args),
    /// Check a model on a table: gradients, stability, memory, speed by batch, and what to change
    Doctor(doctor::Args),
    /// Show what a model file is: task, columns, layers, how it was trained and how well it did
    Info(info::Args),
    /// Write a trained model in other formats: a bundle, ONNX, narrower weights, a page, an npm package
    Export(Box<export::Args>),
    /// List the devices of this machine
    Devices(devices::Args),
    /// Show the launches, memory traffic and operations of one training step without running it
    Plan(Box<plan::Args>),
    /// Run training steps and show where their time goes: by launch, kernel, layer and op, against what the device can do
    Profile(Box<profile::Args>),
    /// Compare methods on a domain with poles, over several seeds
    Experiment(experiment::Args),
    /// Serve the demo site to the browsers of this machine
    Serve(serve::Args),
    /// Measure the speed of a trained model, of a training step or of a matrix product
    Bench(Box<bench::Args>),
    /// Print a script that completes commands and options in a shell
    Completions(completions::Args),
    /// Print the manual page, or write the pages of all commands
    Man(man::Args),
}

impl Command {
    fn run(&self) -> (&'static str, Answer) {
        match self {
            Self::Train(args) => ("train", train::run(args)),
            Self::Demo(args) => ("demo", demo::run(args)),
            Self::Fit(args) => ("fit", fit::run(args)),
            Self::Contrast(args) => ("contrast", contrast::run(args)),
            Self::Recall(args) => ("recall", recall::run(args)),
            Self::Xpcs(args) => ("xpcs", xpcs::run(args)),
            Self::Predict(args) => ("predict", predict::run(args)),
            Self::Eval(args) => ("eval", eval::run(args)),
            Self::Doctor(args) => ("doctor", doctor::run(args)),
            Self::Info(args) => ("info", info::run(args)),
            Self::Export(args) => ("export", export::run(args)),
            Self::Devices(args) => {
                devices::run(args);
                ("devices", Ok(()))
            }
            Self::Plan(args) => ("plan", plan::run(args)),
            Self::Profile(args) => ("profile", profile::run(args)),
            Self::Experiment(args) => ("experiment", experiment::run(args)),
            Self::Serve(args) => ("serve", serve::run(args)),
            Self::Bench(args) => ("bench", bench::run(args)),
            Self::Completions(args) => ("completions", completions::run(args, parser())),
            Self::Man(args) => ("man", man::run(args, parser())),
        }
    }
}

/// Runs the command line of this process. Exit codes: 0 done, 1 failed, 2 wrong usage, 75 stopped and saved, 130 interrupted.
fn main() -> ExitCode {
    quiet_drivers();
    host::outlive_file_limit();
    let line = Line::of(std::env::args_os());
    color::choose(line.value("color").as_deref());
    let is_json = line.has("json");
    let (name, answer) = run(line, is_json);
    // The error of the command itself comes first.
    let answer = answer.and(console::finish_output().map_err(Failure::from));
    let Err(failure) = answer else { return ExitCode::SUCCESS };
    // What clap says of the command line starts without the command's name.
    let prefix =
        if matches!(failure, Failure::Parse(_)) || name.is_empty() { String::new() } else { format!("{name}: ") };
    let (message, code, kind) = failure.report();
    let message = spelled(&shortened(&message));
    // Some messages already start with the command's name.
    let message = message.strip_prefix(&prefix).unwrap_or(&message);
    if is_json {
        console::say_json(&json!({ "event": "error", "where": name, "kind": kind, "message": message }));
        // If this cannot be written either, the message on standard error remains.
        let _ = console::finish_output();
    }
    console::complain_of(&format!("{prefix}{message}"));
    ExitCode::from(code)
}

/// The name of the command, empty if there is none, and its result.
fn run(line: Line, is_json: bool) -> (String, Answer) {
    let root = parser();
    let named = line.command(&root);
    let name = named.name.clone();
    let (words, from_file) = match config::merged(&line, &named) {
        Ok(merged) => merged,
        Err(error) => return (name, Err(error.into())),
    };
    let (name, answer) = parsed(words, name, is_json, &root);
    match from_file {
        Some(options) => (name.clone(), answer.map_err(|failure| options.blame(failure, &name))),
        None => (name, answer),
    }
}

/// Parses the words, whose command is `name`, and runs the command.
fn parsed(words: Vec<OsString>, name: String, is_json: bool, root: &clap::Command) -> (String, Answer) {
    match Cli::try_parse_from(&words) {
        Ok(Cli { general, command }) => {
            progress::want(!is_json && !general.quiet);
            let (name, answer) = command.run();
            (name.to_owned(), answer)
        }
        Err(error) if !error.use_stderr() => {
            let text = error.render();
            console::say_help(&if color::is_on(&io::stdout()) { text.ansi().to_string() } else { text.to_string() });
            (name, Ok(()))
        }
        Err(error) => (name, Err(Failure::Parse(line::message(&error, root, &words)))),
    }
}

/// The parser of the command line.
fn parser() -> clap::Command {
    Cli::command()
}

/// Disables Mesa's layer for device selection: it prints errors where there is no desktop, and the engine selects the device itself.
#[allow(unsafe_code, reason = "an environment variable is set before any thread is started")]
fn quiet_drivers() {
    // SAFETY: the first thing the process does; no other thread can be reading the environment.
    unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_parser_of_every_command_is_sound() {
        super::parser().debug_assert();
    }
}
