//! Pages and packages of one model, and the server of the demo site, as a process: written files, errors, HTTP headers.
//! The built web files are replaced by placeholders; `web/test/portable.test.mjs` tests pages in a browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use super::folder::Folder;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use meromorph::model::Model;
use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Names that would run if they were inserted as code.
const SCRIPT: &str = "</script><script>evil()</script>";
const IMAGE: &str = "<img src=x onerror=evil()>";
const ESCAPE: &str = "a\"; evil(); */ `${evil()}";

/// A folder with web files of this version, tables and no models.
fn filled() -> Folder {
    let folder = Folder::new();
    folder.write("web/web.json", format!("{{\"version\":\"{VERSION}\"}}"));
    folder.write(
        "web/portable/page.html",
        "<!doctype html><p>before</p><script id=\"model\">%MODEL%</script><p>after</p>",
    );
    for part in ["index.js", "node.js", "model.js", "meromorph.js", "meromorph_bg.wasm"] {
        folder.write(&format!("web/portable/package/{part}"), part);
    }
    folder.write("web/site/index.html", "<h1>start</h1>");
    folder.write("web/site/arm/index.html", "<h1>arm</h1>");
    folder.write("web/site/assets/page-B6fW8_kx.js", "1");
    folder.write("web/site/assets/engine.wasm", "\0asm");
    folder.write("web/site/.hidden", "secret");
    folder.write("secret", "secret");
    folder
}

/// The same with a model `m` whose names are hostile.
fn with_model() -> Folder {
    let folder = filled();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut table = format!("u,{},{}\n", quoted(ESCAPE), quoted(SCRIPT));
    for row in 0..120 {
        let (u, level) = (f64::from(row % 17) / 17.0, [IMAGE, "plain"][row as usize % 2]);
        table += &format!("{u},{},{}\n", quoted(level), if row % 3 == 0 { IMAGE } else { "no" });
    }
    folder.write("t.csv", &table);
    let target = ["--target", SCRIPT, "--out", "m"];
    let quick = "train t.csv --device cpu --threads 1 --hidden 4 --epochs 2 --seed 1";
    let output = folder.command(quick).args(target).output().expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// The bytes of a model file without the record of its training, which pages and packages leave out.
fn without_provenance(folder: &Folder, name: &str) -> Vec<u8> {
    let model = Model::load(&folder.read(name), name).expect("a model").without_provenance();
    model.save_as(model.storage).expect("it is small")
}

#[test]
fn a_page_is_the_template_with_the_model_and_no_text_of_the_model() {
    let folder = with_model();
    folder.told("export m --html m.html --web web");
    let page = folder.text("m.html");
    let text =
        page.strip_prefix("<!doctype html><p>before</p><script id=\"model\">").expect("the template before the model");
    let text = text.strip_suffix("</script><p>after</p>").expect("the template after it");
    assert_eq!(BASE64_STANDARD.decode(text).expect("base64"), without_provenance(&folder, "m"));
    assert!(!page.contains("evil") && !page.contains("onerror"));
    let event: Value = serde_json::from_str(&folder.told("export m --html m.html --web web --json")).expect("JSON");
    assert_eq!((&event["event"], event["bytes"].as_u64()), (&"html".into(), Some(page.len() as u64)));
}

#[test]
fn weights_of_16_bits_stay_narrow_and_those_of_8_bits_stay_the_same_numbers() {
    let folder = with_model();
    folder.told("export m --f16 half --int8 small");
    for (narrow, is_kept) in [("half", true), ("small", false)] {
        folder.told(&format!("export {narrow} --npm of-{narrow} --web web"));
        let carried = format!("of-{narrow}/model.safetensors");
        assert_eq!(without_provenance(&folder, narrow) == folder.read(&carried), is_kept);
        let predicted = [narrow, &carried].map(|model| folder.told(&format!("predict {model} t.csv --device cpu")));
        assert_eq!(predicted[0], predicted[1]);
    }
}

#[test]
fn a_package_is_whole_and_its_names_stay_in_their_strings() {
    let folder = with_model();
    folder.told("export m --npm out --web web --name @me/kinds");
    let files =
        "README.md index.d.ts index.js meromorph.js meromorph_bg.wasm model.js model.safetensors node.js package.json";
    assert_eq!(folder.names("out").join(" "), files);
    let manifest: Value = serde_json::from_str(&folder.text("out/package.json")).expect("JSON");
    assert_eq!(manifest["name"], "@me/kinds");
    assert_eq!(manifest["description"], format!("Predicts {SCRIPT}"));
    let listed: Vec<&str> = manifest["files"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    for file in folder.names("out") {
        assert!(
            ["README.md", "package.json"].contains(&&*file) || listed.contains(&&*file),
            "{file} would not be packed"
        );
    }
    let types = folder.text("out/index.d.ts");
    assert!(types.contains("  u?: number | null;\n"), "{types}");
    let quoted = "  \"a\\\"; evil(); */ `${evil()}\"?: \"<img src=x onerror=evil()>\" | \"plain\" | null;\n";
    assert!(types.contains(quoted), "{types}");
    assert!(types.contains("{ value: \"<img src=x onerror=evil()>\" | \"no\"; probability: number }"), "{types}");
    let (code, said) = folder.refused("export m --npm out --web web");
    assert_eq!((code, &*said), (Some(1), "mero: export: out: is not empty; --overwrite replaces it"));
    folder.told("export m --npm out --web web --overwrite");
    assert!(folder.text("out/package.json").contains("\"name\": \"m\""), "the name is the file's");
    folder.write("out/notes", "");
    let (_, said) = folder.refused("export m --npm out --web web --overwrite");
    assert_eq!(said, "mero: export: out: contains \"notes\", which was not exported; nothing is replaced");
}

#[test]
fn errors_of_an_export_leave_no_files() {
    let folder = with_model();
    folder.write("old/web.json", "{\"version\":\"0.0.1\"}");
    folder.write("twice/web.json", format!("{{\"version\":\"{VERSION}\"}}"));
    folder.write("twice/portable/page.html", "%MODEL% %MODEL%");
    let before = folder.names("");
    let cases = [
        ("m --html x --web none", 1, "--web: none has no web.json".to_owned()),
        ("m --html x --web old", 1, format!("the web files in old have version 0.0.1, this mero has {VERSION}")),
        ("m --html x --web twice", 1, "twice/portable/page.html: has 2 places for a model, expected one".into()),
        ("m --npm x --web twice", 1, "twice/portable/package/index.js: cannot be read".into()),
        ("m --npm x --web web --name Wine", 1, "package name \"Wine\" is not one that npm takes".into()),
        (
            "m --npm x --web web --name node_modules",
            1,
            "package name \"node_modules\" is not one that npm takes".into(),
        ),
        ("m --html - --web web", 2, "cannot write to standard output; give a file name instead of -".into()),
        ("m --html m --web web", 2, "m is the model itself; name another file".into()),
        ("t.csv --html x --web web", 1, "t.csv: ".into()),
        ("m --onnx x --web web", 2, "the following required arguments were not provided".into()),
        ("m --html x --overwrite", 2, "the following required arguments were not provided".into()),
    ];
    for (line, code, expected) in cases {
        let (got, said) = folder.refused(&format!("export {line}"));
        assert!(got == Some(code) && said.contains(&expected), "{line}: {got:?} {said}");
        assert_eq!(folder.names(""), before, "{line}");
    }
}

/// A server of the folder's site on a free port, stopped at the end of the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Folder, flags: &str) -> Self {
        let mut command = folder.command(&format!("serve --web web --port 0 {flags}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("it says where it is");
        let url = line.split_whitespace().next().expect("a URL");
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// The response headers in lower case and the body, for a raw request line.
    fn ask(&self, line: &str) -> (String, String) {
        self.ask_with(line, "")
    }

    /// The same with more header lines.
    fn ask_with(&self, line: &str, headers: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "{line} HTTP/1.1\r\nhost: {}\r\n{headers}connection: close\r\n\r\n", self.address)
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers in text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_ascii_lowercase(), body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_server_sends_the_headers_that_browsers_need() {
    let folder = filled();
    let server = Server::start(&folder, "");
    assert!(server.address.starts_with("127.0.0.1:"), "{}", server.address);
    let (head, body) = server.ask("GET /");
    assert!(head.starts_with("http/1.1 200") && body == "<h1>start</h1>", "{head}");
    for expected in [
        "cross-origin-opener-policy: same-origin",
        "cross-origin-embedder-policy: require-corp",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "content-type: text/html; charset=utf-8",
        "cache-control: no-cache",
        "content-security-policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';",
    ] {
        assert!(head.contains(expected), "{expected} is not in {head}");
    }
    let (with_body, without) = (server.ask("GET /arm/"), server.ask("HEAD /arm/"));
    assert_eq!((with_body.1.as_str(), without.1.as_str()), ("<h1>arm</h1>", ""));
    assert!(without.0.contains("content-length: 12"), "{}", without.0);
    assert!(server.ask("GET /assets/engine.wasm").0.contains("content-type: application/wasm"));
    assert!(server.ask("GET /assets/page-B6fW8_kx.js?x=1").0.contains("max-age=31536000, immutable"));
    assert!(server.ask("GET /arm").0.contains("\r\nlocation: /arm/"));
    let (head, body) = server.ask_with("GET /arm/", "range: bytes=4-6\r\n");
    assert!(head.starts_with("http/1.1 206") && body == "arm", "{head}");
    let (head, _) = server.ask_with("GET /arm/", "if-none-match: *\r\n");
    assert!(head.starts_with("http/1.1 304") && head.contains("content-security-policy"), "{head}");
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let (head, _) = server.ask(&format!("{method} /"));
        assert!(head.starts_with("http/1.1 405") && head.contains("allow: get,head"), "{method}: {head}");
    }
}

#[test]
fn nothing_outside_the_folder_and_nothing_hidden_is_served() {
    let folder = filled();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("secret"), folder.path("web/site/link")).expect("a link");
    let server = Server::start(&folder, "");
    let paths = "/nothing /../secret /../../secret /..%2f..%2fsecret /%2e%2e/%2e%2e/secret /assets/../../../secret \
                 //arm /arm/../.hidden /.hidden /%2ehidden /link /index.html/ /assets/ //etc/passwd /..%5c..%5csecret /%00 /%ff /C:/secret /web.json";
    for path in paths.split_whitespace() {
        let (head, body) = server.ask(&format!("GET {path}"));
        assert!(head.starts_with("http/1.1 404") && !body.contains("secret"), "{path}: {head}\n{body}");
        assert!(head.contains("content-security-policy"), "{path}: {head}");
    }
    assert!(server.ask("GET /").0.starts_with("http/1.1 200"), "it goes on");
}

#[test]
fn a_server_that_cannot_start_gives_the_reason() {
    let folder = filled();
    let server = Server::start(&folder, "");
    let port = server.address.rsplit(':').next().expect("a port");
    let taken =
        format!("mero: serve: port {port} of 127.0.0.1 is in use; choose another with --port, or 0 for any free port");
    assert_eq!(folder.refused(&format!("serve --web web --port {port}")), (Some(1), taken));
    fs::remove_file(folder.path("web/site/index.html")).expect("it is there");
    let (code, said) = folder.refused("serve --web web --port 0");
    assert_eq!((code, &*said), (Some(1), "mero: serve: web/site: has no index.html; build the demo site again"));
    fs::remove_dir_all(folder.path("web/site")).expect("it is there");
    let (_, said) = folder.refused("serve --web web --port 0");
    assert!(said.starts_with("mero: serve: web/site: there is no demo site; build it"), "{said}");
    assert_eq!(folder.refused("serve --web web --host nowhere").0, Some(2));
}

#[test]
fn serving_other_machines_prints_a_warning() {
    let folder = filled();
    let mut server = Server::start(&folder, "--host 0.0.0.0");
    let mut said = String::new();
    let stderr = server.child.stderr.take().expect("piped");
    BufReader::new(stderr).read_line(&mut said).expect("text");
    assert!(said.starts_with("mero: serve: warning: everyone who can reach 0.0.0.0:"), "{said}");
    assert!(server.ask("GET /").0.starts_with("http/1.1 200"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it() {
    let folder = filled();
    let mut server = Server::start(&folder, "");
    let sent = Command::new("kill").args(["-INT", &server.child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    assert_eq!(server.child.wait().expect("it ends").code(), Some(0));
}
