//! The `mero` binary.

fn main() -> std::process::ExitCode {
    meromorph::cli::main()
}
