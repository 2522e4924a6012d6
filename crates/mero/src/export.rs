//! `mero export`: writes a trained model in other formats, and checks bundles.

use std::path::{Path, PathBuf};

use clap::ArgGroup;
use pollster::block_on;
use serde_json::json;

use crate::options::contents::{ONNX, PAGE};
use crate::options::hardware::Hardware;
use crate::options::outputs::{Force, check_outs, write_out};
use crate::options::reading::{New, Reading, read_for};
use crate::saved::{load, load_memory};
use crate::session::replace::check_model;
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure, web};
use meromorph::contrast::Memory;
use meromorph::export::{
    Comparison, OPSET, PAGE_FILE, PARTS_FOLDER, ValidatedBundle, compare, digest, narrowed, package_name,
    validate_bundle, write_bundle, write_onnx, write_package, write_page,
};
use meromorph::internal::host;
use meromorph::model::{Model, Storage};
use meromorph::report::{bytes, count, counted, facts, figure};
use meromorph::{Error, Result};

#[derive(clap::Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["bundle", "onnx", "html", "npm", "f16", "int8", "check"]))]
#[command(group = ArgGroup::new("folders").multiple(true).args(["bundle", "npm"]))]
#[command(group = ArgGroup::new("pages").multiple(true).args(["html", "npm"]))]
pub(super) struct Args {
    /// Model file, a folder written by --bundle, or a memory
    #[arg(required_unless_present = "check")]
    model: Option<PathBuf>,
    /// Write a folder with the model, its ONNX file, metadata with file hashes, and the digest of the metadata
    #[arg(long, value_name = "DIR")]
    bundle: Option<PathBuf>,
    /// Replace an existing bundle or package
    #[arg(long, requires = "folders")]
    overwrite: bool,
    /// Write an ONNX file from encoded rows to outputs; for a model with poles, strictly decoded values and their masks; of a memory its map, from rows to
    /// coordinates
    #[arg(long, value_name = "FILE")]
    onnx: Option<PathBuf>,
    /// Write one HTML file that works offline without a server: adjust inputs, plot slices, predict tables
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write an npm package with this model and no dependencies, typed by the model's columns
    #[arg(long, value_name = "DIR")]
    npm: Option<PathBuf>,
    /// Name of the package [default: the name of the model file]
    #[arg(long, requires = "npm")]
    name: Option<String>,
    /// Folder of the web files [default: found near this program]
    #[arg(long, value_name = "DIR", requires = "pages")]
    web: Option<PathBuf>,
    /// Write a model file with 16-bit weights
    #[arg(long, value_name = "FILE")]
    f16: Option<PathBuf>,
    /// Write a model file with 8-bit weights
    #[arg(long, value_name = "FILE")]
    int8: Option<PathBuf>,
    /// Table on which the predictions of the narrowed model are compared with the original's
    #[arg(long, value_name = "TABLE")]
    data: Option<PathBuf>,
    /// Check a bundle instead of writing anything
    #[arg(long, value_name = "DIR", conflicts_with_all = ["model", "bundle", "onnx", "html", "npm", "f16", "int8", "data"])]
    check: Option<PathBuf>,
    /// The digest that the bundle must have
    #[arg(long, value_name = "SHA256", requires = "check")]
    expect_digest: Option<String>,
    #[command(flatten)]
    force: Force,
    /// Print only JSON, one object per written or checked file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    args.hardware.check()?;
    if let Some(folder) = &args.check {
        args.print_bundle("checked", folder, &validate_bundle(folder, args.expect_digest.as_deref())?);
        return Ok(());
    }
    if args.data.is_some() && args.f16.is_none() && args.int8.is_none() {
        return Err(Failure::usage("data: it is what --f16 and --int8 are compared on"));
    }
    let source = args.model.as_deref().expect("clap asks for the model where nothing is checked");
    if let Some(memory) = load_memory(source)? {
        return args.memory(&memory, source);
    }
    let model = load(source)?;
    let outs = [
        ("ONNX file", args.onnx.as_deref(), Some(&ONNX)),
        ("page", args.html.as_deref(), Some(&PAGE)),
        ("f16 model", args.f16.as_deref(), None),
        ("int8 model", args.int8.as_deref(), None),
    ];
    check_outs(&outs, &[("model", source)], args.force.force)?;
    for narrow in [&args.f16, &args.int8].into_iter().flatten() {
        check_model(narrow, model.preparation.as_ref(), args.force.force)?;
    }
    if let Some(folder) = &args.bundle {
        let digest = write_bundle(&model, folder, args.overwrite)?;
        args.print_bundle("bundle", folder, &validate_bundle(folder, Some(&digest))?);
    }
    if let Some(file) = &args.onnx {
        let content = write_onnx(&model)?;
        write_out(file, &ONNX, &content, args.force.force)?;
        args.print_onnx(file, &content);
    }
    if let Some(file) = &args.html {
        args.page(&model, file)?;
    }
    if let Some(folder) = &args.npm {
        args.package(&model, source, folder)?;
    }
    for (file, storage) in [(&args.f16, Storage::F16), (&args.int8, Storage::Int8)] {
        if let Some(file) = file {
            args.narrow(&model, file, storage)?;
        }
    }
    Ok(())
}

impl Args {
    fn print_bundle(&self, event: &str, folder: &Path, bundle: &ValidatedBundle) {
        let ValidatedBundle { metadata, digest, model, onnx } = bundle;
        if self.json {
            return say_json(&json!({ "event": event, "path": folder, "digest": digest, "metadata": metadata }));
        }
        let decoding = match &metadata.decoding {
            None => "none: the model has no poles".to_owned(),
            Some(contract) => {
                let tau = |tau: f32| figure(f64::from(tau));
                let gap = contract.tau_train.map_or_else(String::new, |train| format!(", marked below {}", tau(train)));
                let threshold = format!("{:?}", contract.threshold).to_lowercase();
                format!("{}: no value where the {threshold} is below {}{gap}", contract.mode, tau(contract.tau_infer))
            }
        };
        say(&facts(&[
            (event, folder.display().to_string()),
            ("digest", digest.clone()),
            ("written", format!("{} by {}", metadata.created_utc, metadata.engine)),
            ("model", format!("{}, {}", counted(model.parameter_count(), "parameter"), bytes(metadata.model.bytes))),
            ("onnx", format!("operator set {}, {}", metadata.opset, bytes(onnx.len() as u64))),
            ("decoding", decoding),
        ]));
    }

    /// Writes the map of a memory.
    fn memory(&self, memory: &Memory, source: &Path) -> Answer {
        let others = [
            ("bundle", &self.bundle),
            ("html", &self.html),
            ("npm", &self.npm),
            ("f16", &self.f16),
            ("int8", &self.int8),
        ];
        if let Some((name, _)) = others.iter().find(|(_, path)| path.is_some()) {
            let source = source.display();
            return Err(Failure::usage(format!(
                "--{name}: {source} is a memory: expected a model, or --onnx for its map"
            )));
        }
        let file = self.onnx.as_deref().expect("clap requires one of them");
        check_outs(&[("ONNX file", Some(file), Some(&ONNX))], &[("memory", source)], self.force.force)?;
        let content = write_onnx(&block_on(memory.map_model())?)?;
        write_out(file, &ONNX, &content, self.force.force)?;
        self.print_onnx(file, &content);
        Ok(())
    }

    fn print_onnx(&self, file: &Path, content: &[u8]) {
        let size = content.len() as u64;
        if self.json {
            let sha256 = digest(content);
            return say_json(
                &json!({ "event": "onnx", "path": file, "bytes": size, "sha256": sha256, "opset": OPSET }),
            );
        }
        say(&facts(&[("onnx", format!("{}, operator set {OPSET}, {}", file.display(), bytes(size)))]));
    }

    /// Writes the page of the model and prints its size.
    fn page(&self, model: &Model, file: &Path) -> Result<()> {
        let template = web::find(self.web.as_deref())?.join(PAGE_FILE);
        let source = template.display().to_string();
        let text =
            String::from_utf8(host::read(&template)?).map_err(|_| Error::new(format!("{source}: is not text")))?;
        let content = write_page(model, &text, &source)?;
        write_out(file, &PAGE, &content, self.force.force)?;
        let size = content.len() as u64;
        if self.json {
            say_json(&json!({ "event": "html", "path": file, "bytes": size, "sha256": digest(&content) }));
        } else {
            say(&facts(&[("html", format!("{}, {}; open it in a browser", file.display(), bytes(size)))]));
        }
        Ok(())
    }

    /// Writes the package of the model and prints its name.
    fn package(&self, model: &Model, source: &Path, folder: &Path) -> Answer {
        let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(name) = self.name.clone().or_else(|| package_name(&stem)) else {
            return Err(Failure::usage(format!("no package name can be made of \"{stem}\"; give one with --name")));
        };
        let parts = web::find(self.web.as_deref())?.join(PARTS_FOLDER);
        write_package(model, &name, &parts, folder, self.overwrite)?;
        if self.json {
            say_json(&json!({ "event": "npm", "path": folder, "name": name }));
        } else {
            let place = folder.display();
            // Without a dot npm would look for a package of that name.
            let dot =
                if folder.is_absolute() || folder.starts_with(".") || folder.starts_with("..") { "" } else { "./" };
            say(&facts(&[("npm", format!("{place}, package {name}; npm install {dot}{place}"))]));
        }
        Ok(())
    }

    /// Writes the narrowed model and prints its size and the comparison.
    fn narrow(&self, model: &Model, file: &Path, storage: Storage) -> Answer {
        let (content, narrow) = narrowed(model, storage)?;
        let comparison = match &self.data {
            None => None,
            Some(data) => {
                let New { table, .. } = read_for(model, data, &self.reading, "export")?;
                Some(block_on(compare(&self.hardware.open()?, &table, model, &narrow))?)
            }
        };
        check_model(file, model.preparation.as_ref(), self.force.force)?;
        host::write_whole(file, &content)?;
        self.print_narrow(model, file, storage, content.len(), comparison)?;
        Ok(())
    }

    fn print_narrow(
        &self,
        model: &Model,
        file: &Path,
        storage: Storage,
        size: usize,
        comparison: Option<Comparison>,
    ) -> Result<()> {
        let whole = model.save()?.len();
        let name = storage.name();
        if self.json {
            let event = json!({
                "event": "weights", "storage": name, "path": file, "bytes": size, "f32_bytes": whole, "data": self.data,
                "comparison": comparison,
            });
            say_json(&event);
            return Ok(());
        }
        let sizes = format!("{}, {} instead of {}", file.display(), bytes(size as u64), bytes(whole as u64));
        let mut lines = vec![(name, sizes)];
        if let Some(comparison) = &comparison {
            lines.extend(comparison_lines(comparison));
        }
        say(&facts(&lines));
        Ok(())
    }
}

/// A comparison as labelled lines of text.
fn comparison_lines(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let of_rows = |rows: usize| format!("{} of {}", count(rows as u64), counted(comparison.rows, "row"));
    let counts = [
        ("equal masks", comparison.equal_masks),
        ("newly ⊥", comparison.newly_bottom),
        ("newly a number", comparison.newly_number),
        ("gap changed", comparison.gap_changes),
        ("class changed", comparison.class_changes),
    ];
    let mut lines: Vec<_> = counts.into_iter().filter_map(|(name, count)| Some((name, of_rows(count?)))).collect();
    if let Some((largest, median)) = comparison.largest_change.zip(comparison.median_change) {
        lines.push(("change", format!("{} at most, {} in the median", figure(largest), figure(median))));
    }
    lines
}
