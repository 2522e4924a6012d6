//! What commands write, and how a file that one of them wrote is told from others: by how it begins.

use std::path::Path;

use meromorph::internal::host::{Archive, RangeFile};

/// What an output holds.
pub(crate) struct Content {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// Whether a file with these first bytes holds the same.
    pub(super) is_own: fn(&[u8], &Path) -> bool,
}

/// A page of any command.
pub(crate) static PAGE: Content =
    Content { name: "a page", is_own: |start, _| head(start, PAGE_START).eq_ignore_ascii_case(PAGE_START) };

/// The options of a run.
pub(crate) static CONFIG: Content =
    Content { name: "a configuration of mero train", is_own: |start, _| start.starts_with(CONFIG_START.as_bytes()) };

/// A fit, also after another program has written its JSON anew.
pub(crate) static FIT: Content = Content {
    name: "a fit",
    is_own: |start, _| {
        start.trim_ascii_start().starts_with(b"{") && has(&start[..start.len().min(4096)], "\"meromorph fit\"")
    },
};

/// The table of many fits.
pub(crate) static FITS: Content =
    Content { name: "a table of fits", is_own: |start, _| line(start).ends_with(b"rms_residual,rows,stop") };

/// Draws of the posterior of a fit.
pub(crate) static SAMPLES: Content =
    Content { name: "draws of a fit", is_own: |start, _| line(start).starts_with(b"draw,") };

/// The log of a fit.
pub(crate) static LOG: Content =
    Content { name: "the log of a fit", is_own: |start, _| start.starts_with(b"{\"at\":") };

/// The log of a run that learns from contrasts: its first line says so.
pub(crate) static CONTRAST_LOG: Content = Content {
    name: "the log of mero contrast",
    is_own: |start, _| has(line(start), "\"kind\":\"meromorph contrast\""),
};

/// Predictions: a column of this name, or those of a model with poles.
pub(crate) static PREDICTIONS: Content = Content {
    name: "a table of predictions",
    is_own: |start, _| {
        let line = String::from_utf8_lossy(line(start)).into_owned();
        let names: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || "_ ".contains(c))).collect();
        let has = |name: &str| names.iter().any(|known| known.starts_with(name));
        has("prediction") || ["value", "bottom", "gap", "fault"].into_iter().all(has)
    },
};

/// An ONNX file of this program: version, and the name of the producer.
pub(crate) static ONNX: Content = Content {
    name: "an ONNX file of mero",
    is_own: |start, _| {
        start.first() == Some(&0x08) && start.get(2..).is_some_and(|rest| rest.starts_with(b"\x12\x09meromorph"))
    },
};

/// A picture of gradients.
pub(crate) static FLOW: Content = Content {
    name: "a picture of mero doctor",
    is_own: |start, _| start.starts_with(b"<svg") && has(start, "root mean square"),
};

/// A trace of training steps.
pub(crate) static TRACE: Content = Content {
    name: "a trace of mero profile",
    is_own: |start, _| start.starts_with(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":"),
};

/// The figures of an experiment; their names are sorted.
pub(crate) static EXPERIMENT: Content =
    Content { name: "a report of mero experiment", is_own: |start, _| start.starts_with(b"{\n  \"batch\": ") };

/// The records of the benchmark of a guide.
pub(crate) static SEED_BENCHMARK: Content = Content {
    name: "records of mero bench seed",
    is_own: |start, _| start.starts_with(b"[") && has(start, "\"memory_train_mb\""),
};

/// Synthetic correlations.
pub(crate) static SYNTHETIC: Content =
    Content { name: "synthetic data of mero xpcs", is_own: |_, path| begins_with(path, &SYNTHETIC_MEMBERS) };

/// The configuration of synthetic correlations.
pub(crate) static XPCS_CONFIG: Content = Content {
    name: "a configuration of mero xpcs",
    is_own: |start, _| {
        let mut lines = start.split(|byte| *byte == b'\n');
        let mut next = |expected: &[u8]| lines.next().is_some_and(|line| line.starts_with(expected));
        next(b"analysis_mode: ") && next(b"analyzer_parameters:") && next(b"  dt: ") && next(b"  scattering:")
    },
};

/// Each result of `mero xpcs`, by the name of its file.
pub(crate) fn of_xpcs(name: &str) -> &'static Content {
    static PARAMETERS: Content = Content {
        name: "parameters of mero xpcs",
        is_own: |start, _| start.starts_with(b"{\"analysis_mode\":") && has(start, "\"reduced_chi_squared\":"),
    };
    static CONVERGENCE: Content = Content {
        name: "a report of mero xpcs",
        is_own: |start, _| start.starts_with(b"{\"is_converged\":") && has(start, "\"evaluations\":"),
    };
    static ARRAYS: Content = Content {
        name: "arrays of mero xpcs",
        is_own: |_, path| begins_with(path, &["phi_angles.npy", "c2_exp.npy", "c2_theoretical_raw.npy"]),
    };
    match name {
        "parameters.json" => &PARAMETERS,
        "convergence.json" => &CONVERGENCE,
        "fitted_data.npz" => &ARRAYS,
        _ => &FIT,
    }
}

/// The kernel of a launch, in WGSL or CUDA.
pub(crate) static KERNEL: Content =
    Content { name: "a kernel", is_own: |start, _| has(start, "@compute") || has(start, "__global__") };

/// A memory: its metadata comes first.
pub(crate) static MEMORY: Content =
    Content { name: "a memory", is_own: |start, _| has(&start[..start.len().min(256)], "\"meromorph memory\"") };

/// A map of a memory: nothing tells it from another array.
pub(crate) static MAP: Content = Content { name: "the map of a memory", is_own: |_, _| false };

/// The telemetry of Trainer2: the record of its run comes first.
pub(crate) static TELEMETRY: Content =
    Content { name: "telemetry of Trainer2", is_own: |start, _| has(line(start), "\"run_meta\"") };

/// The neighbours of rows.
pub(crate) static NEIGHBOURS: Content =
    Content { name: "a table of neighbours", is_own: |start, _| line(start) == NEIGHBOUR_COLUMNS.join(",").as_bytes() };

/// The columns of a table of neighbours.
pub(crate) const NEIGHBOUR_COLUMNS: [&str; 7] = ["query", "rank", "row", "class", "distance", "weight", "known"];

/// A page of the manual.
pub(crate) static MANUAL: Content =
    Content { name: "a page of the manual", is_own: |start, _| start.starts_with(b".ie \\n(.g .ds Aq") };

/// Rows of an experiment: numbers under the same names.
pub(crate) static ROWS: Content = Content {
    name: "rows of mero experiment",
    is_own: |start, path| {
        let names = ["train", "validation", "predict"];
        let is_named = path.file_stem().is_some_and(|stem| names.iter().any(|name| stem == *name));
        let mut lines = start.split(|byte| *byte == b'\n');
        let is_number = |cell: &[u8]| std::str::from_utf8(cell).is_ok_and(|cell| cell.parse::<f64>().is_ok());
        let [names, numbers] = [lines.next(), lines.next()].map(Option::unwrap_or_default);
        is_named
            && !names.split(|byte| *byte == b',').any(is_number)
            && numbers.split(|byte| *byte == b',').all(is_number)
    },
};

/// How a page begins.
const PAGE_START: &[u8] = b"<!doctype html";
/// How the options of a run begin.
pub(crate) const CONFIG_START: &str = "# Options of a run of mero ";
/// The arrays of synthetic correlations, in their order.
const SYNTHETIC_MEMBERS: [&str; 6] = ["phi_angles.npy", "c2_exp.npy", "t1.npy", "t2.npy", "dt.npy", "q.npy"];

fn head<'a>(start: &'a [u8], as_long_as: &[u8]) -> &'a [u8] {
    &start[..start.len().min(as_long_as.len())]
}

fn line(start: &[u8]) -> &[u8] {
    start.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end()
}

fn has(start: &[u8], text: &str) -> bool {
    start.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Whether the file is an archive whose first members have these names.
fn begins_with(path: &Path, names: &[&str]) -> bool {
    let Ok(file) = RangeFile::open(path) else { return false };
    let found = Archive::open_file(&file).and_then(|archive| archive.names());
    found.is_ok_and(|found| found.len() >= names.len() && found.iter().zip(names).all(|(one, name)| one == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_output_knows_its_own_files_by_how_they_begin() {
        let cases: [(&Content, &[&str], &[&str]); 9] = [
            (&PAGE, &["<!doctype html><p>", "<!DOCTYPE HTML>"], &["<!doctype", "<html>", "a,b\n"]),
            (&CONFIG, &["# Options of a run of mero 0.1: \n"], &["epochs = 3\n", "# Options\n"]),
            (
                &FIT,
                &["{\"event\":\"report\",\"kind\":\"meromorph fit\"", "{\n \"kind\": \"meromorph fit\""],
                &["{\"kind\":1}"],
            ),
            (
                &PREDICTIONS,
                &[
                    "prediction,note\n1,\n",
                    "a;\"b\";prediction;note\r\n",
                    "value,bottom,gap,fault,note\n",
                    "prediction",
                ],
                &["a,y\n1,2\n", "value,unit\n", "the prediction,y\n", "\u{0}\u{1}", "x\nprediction\n"],
            ),
            (&FITS, &["g,a,rms_residual,rows,stop\n"], &["g,a,b\n"]),
            (&SAMPLES, &["draw,a,b\n"], &["drawn,a\n", "a,draw\n"]),
            (&ONNX, &["\u{8}\u{8}\u{12}\u{9}meromorph"], &["\u{8}\u{8}\u{12}\u{7}pytorch", ""]),
            (&LOG, &["{\"at\":0.1,"], &["{\"a\":1}"]),
            (
                &XPCS_CONFIG,
                &["analysis_mode: static\nanalyzer_parameters:\n  dt: 1\n  scattering:\n"],
                &["analysis_mode: static\noutput:\n"],
            ),
        ];
        for (content, own, others) in cases {
            for text in own {
                assert!((content.is_own)(text.as_bytes(), Path::new("x")), "{}: {text:?}", content.name);
            }
            for text in others {
                assert!(!(content.is_own)(text.as_bytes(), Path::new("x")), "{}: {text:?}", content.name);
            }
        }
        let is_rows = |path: &str, text: &str| (ROWS.is_own)(text.as_bytes(), Path::new(path));
        assert!(is_rows("r/1/train.csv", "x,y\n1,2.5\n"));
        assert!(!is_rows("r/1/train.csv", "x,y\n1,red\n") && !is_rows("r/1/other.csv", "x,y\n1,2\n"));
    }
}
