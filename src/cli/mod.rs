//! The command line: each command parses the outside, calls one room and formats the answer.

mod args;
mod bench;
mod console;
mod demo;
mod devices;
mod eval;
mod experiment;
mod export;
mod flags;
mod interrupt;
mod plan;
mod plot;
mod predict;
mod report;
mod serve;
mod session;
mod train;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, ErrorKind};

#[derive(Parser)]
#[command(name = "mero", version, about = "Trains and runs models, on any GPU and on plain CPUs", max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train on a table: split it, fit a model, stop by validation, report on rows that nothing depended on
    Train(Box<train::Args>),
    /// Train on a built-in data set: a first look, and a yardstick
    Demo(Box<demo::Args>),
    /// Predict every row of a table with a trained model
    Predict(predict::Args),
    /// Measure a trained model on a table that has the target
    Eval(eval::Args),
    /// Write a trained model for other places: a bundle, ONNX, narrower weights, a page
    Export(Box<export::Args>),
    /// List the devices that are here
    Devices(devices::Args),
    /// Show what one training step would launch, move and compute, without running it
    Plan(Box<plan::Args>),
    /// Run methods side by side on a domain with poles, over seeds, and report what came out
    Experiment(experiment::Args),
    /// Serve the demo site to the browsers of this machine
    Serve(serve::Args),
    /// Measure the speed of a training step or of a matrix product
    Bench(bench::Args),
}

impl Command {
    fn run(&self) -> (&'static str, Answer) {
        match self {
            Self::Train(args) => ("train", train::run(args)),
            Self::Demo(args) => ("demo", demo::run(args)),
            Self::Predict(args) => ("predict", predict::run(args)),
            Self::Eval(args) => ("eval", eval::run(args)),
            Self::Export(args) => ("export", export::run(args)),
            Self::Devices(args) => {
                devices::run(args);
                ("devices", Ok(()))
            }
            Self::Plan(args) => ("plan", plan::run(args)),
            Self::Experiment(args) => ("experiment", experiment::run(args)),
            Self::Serve(args) => ("serve", serve::run(args)),
            Self::Bench(args) => ("bench", bench::run(args)),
        }
    }
}

/// The result of a command or of a part of one.
type Answer<T = ()> = Result<T, Failure>;

/// Why a command ended without its result.
enum Failure {
    /// The kind of the error gives the exit code.
    Error(Error),
    /// The user stopped a run; what was saved.
    Interrupted(String),
}

impl Failure {
    /// Wrong options; clap exits with the same code.
    const USAGE: u8 = 2;
    /// 128 + SIGINT, the convention of shells.
    const INTERRUPTED: u8 = 130;

    fn usage(message: impl Into<String>) -> Self {
        Self::Error(Error::usage(message))
    }

    /// The message on standard error and the exit code.
    fn report(self) -> (String, u8) {
        match self {
            Self::Error(error) if error.kind() == ErrorKind::Usage => (error.to_string(), Self::USAGE),
            Self::Error(error) => (error.to_string(), 1),
            Self::Interrupted(message) => (message, Self::INTERRUPTED),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Runs the command line of this process. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
pub fn main() -> ExitCode {
    quiet_drivers();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            console::say(error.render().to_string().trim_end());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let text = error.render().to_string();
            eprintln!("mero: {}", text.strip_prefix("error: ").unwrap_or(&text).trim_end());
            return ExitCode::from(Failure::USAGE);
        }
    };
    let (name, answer) = cli.command.run();
    let Err(failure) = answer else { return ExitCode::SUCCESS };
    let (message, code) = failure.report();
    // Some messages already begin with the command's name.
    let prefix = format!("{name}: ");
    let prefix = if message.starts_with(&prefix) { "" } else { &prefix };
    eprintln!("mero: {prefix}{message}");
    ExitCode::from(code)
}

/// Mesa's layer that picks a GPU for an application complains on standard error where there is no desktop; we pick ourselves.
#[allow(unsafe_code, reason = "an environment variable is set before any thread is started")]
fn quiet_drivers() {
    // SAFETY: the first thing the process does; no other thread can be reading the environment.
    unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
}
