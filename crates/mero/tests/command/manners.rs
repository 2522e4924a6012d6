//! The manners of a command: completions and manual pages, options from a file, errors as JSON, guesses at mistyped names, colours, progress.

use crate::{QUICK, check, filled, folder::Folder, json_lines};
use serde_json::Value;
use std::process::Command;

#[test]
fn every_shell_gets_completions_and_every_command_a_page() {
    let folder = filled();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.told(&format!("completions {shell}"));
        assert!(script.contains("mero") && script.contains("experiment") && script.contains("weight-decay"), "{shell}");
    }
    assert_eq!(folder.refused("completions tcsh").0, Some(2));
    let page = folder.told("man");
    assert!(page.contains(".TH mero 1") && page.contains("mero\\-train(1)"), "{page}");
    assert!(folder.told("man --dir pages").contains("pages in pages"));
    let pages = folder.names("pages");
    for expected in ["mero.1", "mero-train.1", "mero-bench-mlp.1", "mero-completions.1"] {
        assert!(pages.iter().any(|name| name == expected), "{expected} not in {pages:?}");
    }
    assert!(folder.text("pages/mero-train.1").contains("\\-\\-weight\\-decay"));
}

#[test]
fn a_run_is_repeated_from_its_options_in_a_file() {
    let folder = filled();
    let options =
        "--target y --hidden 8,4 --epochs 4 --lr 3e-3 --ignore b --na x,-- --seed 7 --validation 0.2 --decimal .";
    let line =
        format!("train good.csv {options} --device cpu --threads 1 --out a --report a.html --save-config run.toml");
    folder.told(&line);
    let config = folder.text("run.toml");
    for expected in
        ["hidden = [8, 4]", "lr = 0.003", "na = [\"x\", \"--\"]", "target = \"y\"", "threads = 1", "device = \"cpu\""]
    {
        assert!(config.contains(expected), "{expected} not in\n{config}");
    }
    assert!(!config.contains("out =") && !config.contains("report ="), "{config}");
    assert!(folder.text("a.html").contains("hidden = [8, 4]"), "the page has the file");
    folder.told("train good.csv --config run.toml --out b");
    assert_eq!(folder.read("a"), folder.read("b"), "the model of the repeated run");
    // The command line wins, also by another name of the option.
    folder.told("train good.csv --config run.toml --random-state 8 --out c --force");
    folder
        .told(&format!("train good.csv {} --device cpu --threads 1 --out d", options.replace("--seed 7", "--seed 8")));
    assert_eq!(folder.read("c"), folder.read("d"));
    // What contradicts the command line is left out.
    folder.write("named.toml", "header = true\n");
    let line = format!("train good.csv --target c3 --no-header --config named.toml {QUICK} --categorical c3 --out e");
    assert!(folder.mero(&line).status.success());
}

#[test]
fn fields_lists_and_other_commands_read_files() {
    let folder = filled();
    folder.write("poles.toml", "target = \"y\"\nhead = \"rational\"\nfeatures = [\"a\", \"b\"]\ndegrees = [3, 2]\n[term]\nchordal = 1\ndecoded = \"0.5..0@0..2\"\n");
    folder.told(&format!("train good.csv --config poles.toml {QUICK} --out p --save-config again.toml"));
    folder.told("train good.csv --config again.toml --out q");
    assert_eq!(folder.read("p"), folder.read("q"));
    folder.write("eval.toml", "importance = 2\npartial = [\"a\"]\ndevice = \"cpu\"\n");
    let lines = json_lines(&folder.told("eval p good.csv --json --config eval.toml"));
    assert_eq!((&lines[0]["importance"]["repeats"], &lines[0]["partial"][0]["column"]), (&2.into(), &"a".into()));
    folder.write("none.toml", "hidden = []\n");
    assert!(
        folder.told("train good.csv --target y --device cpu --epochs 1 --config none.toml --out l").contains("model  ")
    );
}

#[test]
fn mistakes_in_a_file_of_options_name_it() {
    let folder = filled();
    let cases = [
        ("epoch = 5", "option \"epoch\" is unknown: did you mean \"epochs\"?"),
        ("epochs = \"many\"", "epochs: got \"many\", expected a whole number from 1 to 4294967295"),
        ("epochs = true", "epochs: got true, expected a whole number from 1 to 4294967295"),
        ("hidden = [8, 0]", "hidden[1]: got 0, expected a whole number from 1 to 4294967295"),
        ("header = 3", "header: got 3, expected true or false"),
        ("threads = [1]", "threads: got an array, expected a whole number from 0 to 9007199254740992"),
        ("categorical = [true]", "categorical[0]: got true, expected a string"),
        (
            "optimizer = \"adm\"",
            "optimizer: got \"adm\", expected one of \"adamw\", \"adam\", \"lion\", \"sgd\", \"rmsprop\", \"adagrad\", \"lamb\", \"schedule-free\", …",
        ),
        ("test = 2", "test: got 2, expected a number of at least 0 and less than 1"),
    ];
    let mut failures = Vec::new();
    for (text, expected) in cases {
        folder.write("bad.toml", text);
        check(
            &folder,
            "train good.csv --target y --config bad.toml",
            &format!("train: bad.toml: {expected}"),
            2,
            &mut failures,
        );
    }
    // Found after the command line was parsed.
    let unknown = "column \"w\" not in good.csv; it has \"a\", \"b\", \"colour\", \"y\"";
    let cases = [
        ("delta = 2", "bad.toml: delta applies only to loss \"huber\"", 2),
        ("class-weights = \"balanced\"", "bad.toml: class weights apply only to loss …", 2),
        (
            "device = \"cup\"",
            "bad.toml: device \"cup\" is unknown; there are auto, webgpu, cpu; did you mean \"cpu\"?",
            2,
        ),
        ("group = \"w\"", &format!("bad.toml: {unknown}"), 1),
        ("folds = 1", "bad.toml: folds: got 1, expected at least 2", 2),
    ];
    for (text, expected, code) in cases {
        folder.write("bad.toml", text);
        let line = "train good.csv --target y --config bad.toml";
        check(&folder, line, &format!("train: {expected}"), code, &mut failures);
    }
    folder.write("bad.toml", "ignore = [\"a\"]\nepochs = 3\n");
    let line = "train good.csv --target w --config bad.toml";
    check(&folder, line, &format!("train: {unknown}"), 1, &mut failures);
    folder.write("bad.toml", "epochs = 3\nlr = \n");
    let (code, said) = folder.refused("train good.csv --target y --config bad.toml");
    assert!(code == Some(1) && said.starts_with("mero: train: bad.toml: line 2: "), "{said}");
    let absent = "train: gone.toml: cannot be read: No such file or directory";
    check(&folder, "train good.csv --config gone.toml", absent, 1, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn errors_are_json_events_with_json() {
    let folder = filled();
    let cases = [
        ("train good.csv --target x --json", "train", "input", 1, "column \"x\" not in good.csv"),
        ("train good.csv --target y --json --epochs 0", "train", "usage", 2, "--epochs: got 0"),
        ("train good.csv --target y --json --epohs 3", "train", "usage", 2, "unexpected argument '--epohs' found"),
        ("eval gone good.csv --json", "eval", "input", 1, "gone: cannot be read"),
        ("bench matmul --size x --json", "bench", "usage", 2, "invalid value 'x'"),
        ("trian --json", "", "usage", 2, "unrecognized subcommand"),
    ];
    for (line, place, kind, code, message) in cases {
        let output = folder.mero(line);
        assert_eq!(output.status.code(), Some(code), "{line}");
        let events = json_lines(&String::from_utf8(output.stdout).expect("text"));
        let [Value::Object(event)] = events.as_slice() else { panic!("{line}: {events:?}") };
        assert_eq!([&event["event"], &event["where"], &event["kind"]], ["error", place, kind], "{line}");
        let text = event["message"].as_str().expect("a message");
        assert!(text.starts_with(message), "{line}: {text}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.starts_with("mero: ") && said.trim_end().ends_with(text), "{line}: {said}");
    }
}

#[test]
fn mistyped_names_get_a_guess() {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out m"));
    folder.write("other.csv", "a,b,color,y\n1,2,red,3\n");
    let cases = [
        ("train good.csv --target colr", "colour"),
        ("train good.csv --target y --features a,colou", "colour"),
        ("train good.csv --target y --group Colour", "colour"),
        ("train good.csv --target y --device cup", "cpu"),
        ("train good.csv --target y --loss log(sqart(p-y))", "sqrt"),
        ("train good.csv --target y --head rational --term decodd=1", "decoded"),
        ("train good.csv --target y --activation rational --policy scm_ratonal=clamp", "scm_rational"),
        ("predict m other.csv", "color"),
        ("eval m good.csv --partial colr", "colour"),
        ("experiment dose --methods direction-haed", "direction-head"),
    ];
    for (line, expected) in cases {
        let (_, said) = folder.refused(line);
        assert!(said.contains(&format!("did you mean \"{expected}\"?")), "{line}: {said}");
    }
    for (line, expected) in [
        ("train good.csv --taget y", "'--target'"),
        ("trian", "'train'"),
        ("train good.csv --target y --optimizer adm", "'adam'"),
    ] {
        let (_, said) = folder.refused(line);
        assert!(said.contains("similar") && said.contains(expected), "{line}: {said}");
    }
}

#[test]
fn colours_follow_the_option() {
    let folder = filled();
    let has_colours = |text: &[u8]| text.contains(&0x1b);
    assert!(!has_colours(&folder.mero("--help").stdout), "a pipe");
    assert!(has_colours(&folder.mero("--help --color always").stdout));
    assert!(has_colours(&folder.mero("train gone.csv --target y --color=always").stderr));
    assert!(!has_colours(&folder.mero("train gone.csv --target y").stderr));
    let Some(plain) = on_terminal(&folder, &[("NO_COLOR", "1")], "--help") else { return };
    assert!(!plain.contains("\u{1b}["), "{plain:?}");
    let variables = [("NO_COLOR", ""), ("TERM", "xterm")];
    assert!(on_terminal(&folder, &variables, "--help").is_some_and(|text| text.contains("\u{1b}[1m")));
    assert!(on_terminal(&folder, &variables, "--help --color never").is_some_and(|text| !text.contains("\u{1b}[1m")));
}

#[test]
fn progress_is_for_terminals() {
    let folder = filled();
    let folds = "train good.csv --target y --device cpu --hidden 16 --batch 4 --epochs 600 --patience 0 --folds 3 --force --out m";
    let plain = folder.told(folds);
    assert!(!plain.contains("left") && !plain.contains("fold 1 of 3"), "{plain}");
    let spread = plain.lines().find(|line| line.contains("± spread")).expect("a row for the spread");
    assert!(!spread.contains("120"), "a spread is not of rows: {spread}");
    let Some(text) = on_terminal(&folder, &[("TERM", "xterm")], folds) else { return };
    assert!(text.contains("fold 1 of 3") && text.contains(" left"), "{text}");
    for (variables, option) in [([("TERM", "dumb")], ""), ([("TERM", "xterm")], " --quiet")] {
        let text = on_terminal(&folder, &variables, &format!("{folds}{option}")).expect("as above");
        assert!(!text.contains(" left") && !text.contains("\u{1b}["), "{option}: {text}");
    }
}

/// What a command prints on a terminal; `None` where no program makes one.
fn on_terminal(folder: &Folder, variables: &[(&str, &str)], line: &str) -> Option<String> {
    let line = format!("{} {line}", env!("CARGO_BIN_EXE_mero"));
    let mut command = Command::new("script");
    command.current_dir(folder.path("")).args(["-qec", &line, "/dev/null"]).env_remove("NO_COLOR");
    command.envs(variables.iter().copied()).stdin(std::process::Stdio::null());
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn folds_do_not_resume_and_predictions_are_csv() {
    let folder = filled();
    let (code, said) = folder.refused("train good.csv --resume gone --folds 3");
    assert!(code == Some(2) && said.contains("'--resume <CKPT>' cannot be used with '--folds <K>'"), "{said}");
    folder.told(&format!("train good.csv --target y {QUICK} --out m"));
    let mut failures = Vec::new();
    let expected = "predict: p.npz: predictions are written as CSV only: expected a name such as p.csv";
    check(&folder, "predict m good.csv --with-inputs -o p.npz", expected, 2, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Headings of options that several commands share, with exactly these options.
const SHARED: [(&str, &str); 10] = [
    (
        "Reading the table",
        "header no-header delimiter decimal thousands na keep-na encoding comment skip header-row bad-rows escape sheet",
    ),
    ("Hardware", "device threads no-subgroups geometry products"),
    ("Table or sizes", "target inputs outputs rows"),
    ("Every command", "config color quiet"),
    ("Parameters", "p0 bounds fix tie"),
    ("Observed values", "y sigma sigma-x absolute-sigma where background smoothness asymmetry missing loss loss-scale"),
    ("Search", "method global no-recovery max-evaluations seed"),
    ("Answer", "level profile bootstrap resample sample derive"),
    ("Prediction", "unknown precision interval"),
    ("Measuring", "steps windows"),
];

#[test]
fn options_print_under_their_headings() {
    let folder = filled();
    let own = [
        ("doctor", "baseline tolerance alert flow json help"),
        ("eval", "sweep profile importance partial report json help"),
        (
            "fit",
            "model against out samples-out report device threads strategy memory-limit plan checkpoint checkpoint-every log \
             log-threshold device-memory timings force json print log-x log-y help",
        ),
        ("plan", "settings recommend print json help"),
        ("profile", "memory trace report json help"),
        ("train", "resume help"),
        ("export", "bundle overwrite onnx html npm name web f16 int8 data check expect-digest json help"),
        ("bench mlp", "steps deep decoded windows json help"),
        ("bench read", "windows json help"),
    ];
    let mut commands = vec![String::new()];
    let mut found = Vec::new();
    while let Some(command) = commands.pop() {
        let page = folder.told(&format!("help {command}"));
        commands.extend(subcommands(&page).into_iter().map(|name| format!("{command} {name}").trim().to_owned()));
        for (heading, options) in headings(&page) {
            let expected = SHARED.iter().find(|(name, _)| *name == heading).map(|(_, options)| *options);
            let expected = expected.or_else(|| {
                let own = own.iter().find(|(name, _)| *name == command && heading == "Options");
                own.map(|(_, options)| *options)
            });
            if expected.is_some_and(|expected| options.join(" ") != expected) {
                found.push(format!("{command}, {heading}: {}", options.join(" ")));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The commands that a page of help lists.
fn subcommands(page: &str) -> Vec<String> {
    let listed = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The headings of a page of help, with the long options below each.
fn headings(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in page.lines() {
        let text = line.trim_start();
        // Texts are indented further than options.
        let is_option = (1..=6).contains(&(line.len() - text.len())) && text.starts_with('-');
        if let Some(heading) = line.strip_suffix(':').filter(|_| line.len() == text.len()) {
            found.push((heading.to_owned(), Vec::new()));
        } else if let (true, Some((_, name)), Some((_, options))) = (is_option, text.split_once("--"), found.last_mut())
        {
            let name = name.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
            options.push(name.to_owned());
        }
    }
    found
}
