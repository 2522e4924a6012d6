//! The command line: each command parses its arguments and files, calls one module and prints the result.

mod args;
mod bench;
mod console;
mod demo;
mod devices;
mod eval;
mod examine;
mod experiment;
mod export;
mod flags;
mod folds;
mod info;
mod interrupt;
mod page;
mod plan;
mod plot;
mod predict;
mod printable;
mod replace;
mod report;
mod serve;
mod session;
mod train;
mod web;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::error::{Error, ErrorKind, similar};

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
    /// Show what a model file is: task, columns, layers, how it was trained and how well it did
    Info(info::Args),
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
            Self::Info(args) => ("info", info::run(args)),
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
    let (prefix, answer) = match Cli::try_parse_from(joined(std::env::args_os())) {
        Ok(cli) => {
            let (name, answer) = cli.command.run();
            (format!("{name}: "), answer)
        }
        Err(error) if !error.use_stderr() => {
            console::say(error.render().to_string().trim_end());
            (String::new(), Ok(()))
        }
        Err(error) => {
            let text = error.render().to_string();
            let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            // The standard library's words for a text that is not a whole number.
            let message = message.replace("invalid digit found in string", "expected a whole number of at least 0");
            (String::new(), Err(Failure::usage(guessed(message))))
        }
    };
    // The error of the command itself comes first.
    let answer = answer.and(console::finish_output().map_err(Failure::from));
    let Err(failure) = answer else { return ExitCode::SUCCESS };
    let (message, code) = failure.report();
    // Some messages already start with the command's name.
    let prefix = if message.starts_with(&prefix) { "" } else { &prefix };
    console::complain(&format!("mero: {prefix}{message}"));
    ExitCode::from(code)
}

/// The message about an unknown command with a guess, which the parser does not add to `mero help trian`.
fn guessed(message: String) -> String {
    let unknown = message.strip_prefix("unrecognized subcommand '").and_then(|rest| rest.split_once('\''));
    let Some((name, rest)) = unknown.filter(|_| !message.contains("similar")) else { return message };
    let command = Cli::command();
    match similar(name, command.get_subcommands().map(clap::Command::get_name)) {
        Some(known) => {
            format!("unrecognized subcommand '{name}'\n\n  tip: a similar subcommand exists: '{known}'{rest}")
        }
        None => message,
    }
}

/// The arguments, with a negative number joined to the option before it: `--lr -1` becomes `--lr=-1`. The parser would take `-1` for an option of
/// its own; the option's range check has the better message.
fn joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_open = |last: &&mut OsString| {
            let last = last.to_string_lossy();
            last.len() > 2 && last.starts_with("--") && !last.contains('=')
        };
        match all.last_mut().filter(is_open) {
            Some(option) if is_negative(&argument.to_string_lossy()) => {
                option.push("=");
                option.push(argument);
            }
            _ => all.push(argument),
        }
    }
    all
}

/// `-1`, `-.5`, `-inf` or a list that begins so.
fn is_negative(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or_default().to_ascii_lowercase();
    number.starts_with(|c: char| c.is_ascii_digit() || c == '.') || ["inf", "infinity", "nan"].contains(&&*number)
}

/// Disables Mesa's layer for device selection: it prints errors where there is no desktop, and the engine selects the device itself.
#[allow(unsafe_code, reason = "an environment variable is set before any thread is started")]
fn quiet_drivers() {
    // SAFETY: the first thing the process does; no other thread can be reading the environment.
    unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
}
