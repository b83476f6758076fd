//! The reference page: the published document, rendered by Redoc, in one file that loads no other.
//!
//! What the document cannot hold is added to the copy that is rendered: requests and recipes, and
//! the values of `error` as a table. The document beside the page is the published one.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::checkout::{DOCUMENT, root, shell};
use crate::tools;

/// The same request in each language. It takes the service from `PLANTS_URL` and `PLANTS_TOKEN`.
pub const REQUESTS: [Request; 4] = [
    Request { language: "curl", file: "requests/curl.sh" },
    Request { language: "Rust", file: "requests/rust.rs" },
    Request { language: "Python", file: "requests/python.py" },
    Request { language: "TypeScript", file: "requests/typescript.ts" },
];

/// A request of the page.
pub struct Request {
    /// What people call its language.
    pub language: &'static str,
    /// A file of `tests/conformance`.
    pub file: &'static str,
}

/// The id of the operation that these requests call.
const REQUESTED: &str = "create_plant";

/// Relative to `target/conformance`.
const RENDERER: &str = "node_modules/redoc/bundles/redoc.standalone.js";

/// The licence of the renderer.
const LICENCE: &str = "node_modules/redoc/LICENSE";

/// The licences of the parts of the renderer.
const LICENCES: &str = "node_modules/redoc/bundles/redoc.standalone.js.LICENSE.txt";

/// The one thing that the renderer would load: an image below the menu.
const LOGO: &str = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/// Installs the renderer, if it is not there yet, and writes the page.
pub fn run() -> Result<()> {
    tools::copy_input()?;
    tools::install_node()?;
    println!("wrote {}", write()?.display());
    Ok(())
}

/// Writes the page, with the renderer that is installed, and the document into the same folder.
/// Returns where the page is.
pub fn write() -> Result<PathBuf> {
    let published = shell()?.read_file(DOCUMENT)?;
    let document: Value = serde_json::from_str(&published).context("the document is not JSON")?;
    let sh = shell()?;
    let folder = root().join("target/docs");
    sh.write_file(folder.join("plant-store.json"), published)?;
    sh.write_file(folder.join("index.html"), page(&document)?)?;
    Ok(folder.join("index.html"))
}

fn page(published: &Value) -> Result<String> {
    let info = |name: &str| published["info"][name].as_str().unwrap_or_default();
    let page = include_str!("page.html")
        .replace("{{title}}", &escape(&format!("{} {}", info("title"), info("version"))))
        .replace("{{description}}", &escape(info("description")))
        // JSON in a script: `</script>` would end it.
        .replace("{{document}}", &extended(published)?.to_string().replace('<', "\\u003c"));
    // Last, so that no placeholder is replaced inside the renderer.
    Ok(page.replace("{{renderer}}", &renderer()?))
}

/// A text, escaped for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The renderer and its licences, as a script that loads nothing.
fn renderer() -> Result<String> {
    let sh = tools::shell()?;
    let installed = |file| sh.read_file(file);
    let renderer = installed(RENDERER)?;
    ensure!(renderer.matches(LOGO).count() == 1, "{RENDERER} does not name {LOGO} once");
    let licence = installed(LICENCE)?;
    let licences = format!("/*!\n{}\n*/\n{}", licence.trim_end(), installed(LICENCES)?);
    let text = format!("{licences}\n{}", renderer.replace(LOGO, "data:,"));
    // As HTML reads a script: there `<\/` is `</` in every string and pattern.
    Ok(text.replace("</script", "<\\/script"))
}

/// The document with what it cannot hold: sections in Markdown, and the requests.
fn extended(published: &Value) -> Result<Value> {
    let mut document = published.clone();
    let description = document["info"]["description"].as_str().unwrap_or_default();
    let overview = include_str!("overview.md").replace("{{errors}}", &table(errors(published)?));
    document["info"]["description"] = format!("{description}\n\n{overview}").into();
    let sample = |request: Request| {
        let Request { language: label, file } = request;
        Ok(json!({"lang": language(file), "label": label, "source": source(file)?}))
    };
    let samples: Vec<Value> = REQUESTS.into_iter().map(sample).collect::<Result<_>>()?;
    requested(&mut document)?["x-codeSamples"] = samples.into();
    let tags = document["tags"].as_array_mut().context("no tags")?;
    // A tag without operations. Its section comes before theirs.
    let recipes =
        json!({"name": "Recipes", "description": recipes(published)?, "x-traitTag": true});
    tags.insert(0, recipes);
    Ok(document)
}

/// The operation that the requests call.
fn requested(document: &mut Value) -> Result<&mut Value> {
    let paths = document["paths"].as_object_mut().context("the document has no paths")?;
    let mut operations = paths.values_mut().filter_map(Value::as_object_mut).flatten();
    let requested = operations.find(|(_, operation)| operation["operationId"] == REQUESTED);
    let (_, operation) = requested.with_context(|| {
        format!("no operation has the id {REQUESTED}, which the requests of the page call")
    })?;
    Ok(operation)
}

/// The values of `error`, as the document lists them.
fn errors(document: &Value) -> Result<&[Value]> {
    let listed =
        &document["components"]["schemas"]["Error"]["properties"]["error"]["x-error-codes"];
    Ok(listed.as_array().context("the document lists no values of `error`")?)
}

/// The values of `error` as a table in Markdown.
fn table(errors: &[Value]) -> String {
    let row = |code: &Value| {
        let meaning = code["meaning"].as_str().unwrap_or_default();
        let again = if code["retryable"] == true { "yes" } else { "no" };
        format!("| {} | {meaning} | {again} |\n", code["error"])
    };
    let rows: String = errors.iter().map(row).collect();
    format!("| `error` | when | send the same request again |\n| --- | --- | --- |\n{rows}")
}

/// Each line `{{FILE}}` becomes that file. `conformance` runs the same files.
fn recipes(published: &Value) -> Result<String> {
    let retryable = errors(published)?.iter().filter(|code| code["retryable"] == true);
    let retryable: Vec<_> = retryable.map(|code| code["error"].to_string()).collect();
    let text = include_str!("recipes.md").replace("{{retryable}}", &retryable.join(", "));
    let filled = |line: &str| {
        let file = line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        match file {
            Some(file) => Ok(format!("```{}\n{}```\n", language(file), source(file)?)),
            None => Ok(format!("{line}\n")),
        }
    };
    text.lines().map(filled).collect()
}

/// What highlighters call the language of a file.
fn language(file: &str) -> &'static str {
    match file.rsplit('.').next() {
        Some("sh") => "bash",
        Some("rs") => "rust",
        Some("py") => "python",
        Some("ts") => "typescript",
        _ => "javascript",
    }
}

fn source(file: &str) -> Result<String> {
    Ok(shell()?.read_file(format!("tests/conformance/{file}"))?)
}
