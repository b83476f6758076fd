//! The reference page: the published document, rendered by Redoc, in a single file. The page must
//! not load anything else.
//!
//! The rendered copy of the document also contains requests, recipes, and a table of the values of
//! `error`. The document beside the page is the published one, unchanged.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::checkout::{DOCUMENT, root, shell};
use crate::tools;

/// The same request in several languages. Each reads `PLANTS_URL` and `PLANTS_TOKEN`.
pub const REQUESTS: [Request; 4] = [
    Request { language: "curl", file: "requests/curl.sh" },
    Request { language: "Rust", file: "requests/rust.rs" },
    Request { language: "Python", file: "requests/python.py" },
    Request { language: "TypeScript", file: "requests/typescript.ts" },
];

/// A request on the page.
pub struct Request {
    /// The language, as the page names it.
    pub language: &'static str,
    /// The path of the file in `tests/conformance`.
    pub file: &'static str,
}

/// The id of the operation that the requests call.
const OPERATION_ID: &str = "create_plant";

/// The path of the renderer in `target/conformance`.
const RENDERER: &str = "node_modules/redoc/bundles/redoc.standalone.js";

/// The licence of the renderer.
const LICENCE: &str = "node_modules/redoc/LICENSE";

/// The licences of the libraries in the renderer.
const LICENCES: &str = "node_modules/redoc/bundles/redoc.standalone.js.LICENSE.txt";

/// The only URL that the renderer would load: a logo below the menu.
const LOGO: &str = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/// Installs the renderer if it is not installed yet, and writes the page.
pub fn run() -> Result<()> {
    tools::copy_input()?;
    tools::install_node()?;
    println!("wrote {}", write()?.display());
    Ok(())
}

/// Writes the page with the installed renderer, and the document into the same folder. Returns the
/// path of the page.
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
        // `</script>` in the JSON would end the script.
        .replace("{{document}}", &extended(published)?.to_string().replace('<', "\\u003c"));
    // Last, so that nothing inside the renderer is taken for a placeholder.
    Ok(page.replace("{{renderer}}", &renderer()?))
}

/// Escapes a text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns the renderer with its licences, as a script that loads nothing.
fn renderer() -> Result<String> {
    let sh = tools::shell()?;
    let installed = |file| sh.read_file(file);
    let renderer = installed(RENDERER)?;
    ensure!(renderer.matches(LOGO).count() == 1, "{RENDERER} does not contain {LOGO} exactly once");
    let licence = installed(LICENCE)?;
    let licences = format!("/*!\n{}\n*/\n{}", licence.trim_end(), installed(LICENCES)?);
    let text = format!("{licences}\n{}", renderer.replace(LOGO, "data:,"));
    // `</script` would end the script. In strings and regular expressions `<\/` means the same.
    Ok(text.replace("</script", "<\\/script"))
}

/// Adds the sections in Markdown and the requests to a copy of the document.
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
    operation(&mut document)?["x-codeSamples"] = samples.into();
    let tags = document["tags"].as_array_mut().context("the document has no tags")?;
    // A tag without operations, so that its section precedes the operations.
    let recipes =
        json!({"name": "Recipes", "description": recipes(published)?, "x-traitTag": true});
    tags.insert(0, recipes);
    Ok(document)
}

/// Returns the operation that the requests call.
fn operation(document: &mut Value) -> Result<&mut Value> {
    let paths = document["paths"].as_object_mut().context("the document has no paths")?;
    let mut operations = paths.values_mut().filter_map(Value::as_object_mut).flatten();
    let found = operations.find(|(_, operation)| operation["operationId"] == OPERATION_ID);
    let (_, operation) = found.with_context(|| {
        format!("no operation has the id {OPERATION_ID}, which the requests on the page call")
    })?;
    Ok(operation)
}

/// Returns the values of `error` that the document lists.
fn errors(document: &Value) -> Result<&[Value]> {
    let listed =
        &document["components"]["schemas"]["Error"]["properties"]["error"]["x-error-codes"];
    Ok(listed.as_array().context("the document lists no values of `error`")?)
}

/// Formats the values of `error` as a table in Markdown.
fn table(errors: &[Value]) -> String {
    let row = |code: &Value| {
        let meaning = code["meaning"].as_str().unwrap_or_default();
        let again = if code["retryable"] == true { "yes" } else { "no" };
        format!("| {} | {meaning} | {again} |\n", code["error"])
    };
    let rows: String = errors.iter().map(row).collect();
    format!("| `error` | when | send the same request again |\n| --- | --- | --- |\n{rows}")
}

/// Returns the section of the recipes. Each line `{{FILE}}` is replaced with the content of that
/// file; `conformance` runs the same files.
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

/// Returns the name that syntax highlighters use for the language of a file.
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
