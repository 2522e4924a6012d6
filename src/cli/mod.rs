//! The command line: each command parses its arguments and files, calls one module and prints the result.

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
    /// Train on a table: split it, fit a model, stop early by validation, report on held-out test rows
    Train(Box<train::Args>),
    /// Train on a built-in data set, as a first look and a reference
    Demo(Box<demo::Args>),
    /// Predict every row of a table with a trained model
    Predict(predict::Args),
    /// Measure a trained model on a table with the target column
    Eval(eval::Args),
    /// Write a trained model in other formats: a bundle, ONNX, narrower weights, a page, an npm package
    Export(Box<export::Args>),
    /// List the devices of this machine
    Devices(devices::Args),
    /// Show the launches, memory traffic and operations of one training step without running it
    Plan(Box<plan::Args>),
    /// Compare methods on a domain with poles, over several seeds
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
    /// The user stopped a run; the message says what was saved.
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
    // Some messages already start with the command's name.
    let prefix = format!("{name}: ");
    let prefix = if message.starts_with(&prefix) { "" } else { &prefix };
    eprintln!("mero: {prefix}{message}");
    ExitCode::from(code)
}

/// Disables Mesa's layer for device selection: it prints errors where there is no desktop, and the engine selects the device itself.
#[allow(unsafe_code, reason = "an environment variable is set before any thread is started")]
fn quiet_drivers() {
    // SAFETY: the first thing the process does; no other thread can be reading the environment.
    unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
}
