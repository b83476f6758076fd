//! The rooms of `server/src`: a module imports only from its own room and from the rooms to its
//! right in the map of `lib.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use xtask::run::root;

/// The `use crate::` paths of each module, by its own path: `store/sqlite/file`.
type Imports = BTreeMap<String, Vec<String>>;

fn read(folder: &Path, path: &str, imports: &mut Imports) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().into_string().expect("text");
        let module = format!("{path}{}", name.trim_end_matches(".rs"));
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{module}/"), imports);
        } else if name != "tests.rs" {
            let code = fs::read_to_string(entry.path()).expect("text");
            let paths = code.lines().filter_map(|line| line.strip_prefix("use crate::"));
            // The contract's, which is a crate below all rooms.
            let paths = paths.filter(|path| !path.starts_with("types::"));
            let paths = paths.map(|path| path.replace("::", "/").replace([';', '{'], "/"));
            imports.insert(module.trim_end_matches("/mod").into(), paths.collect());
        }
    }
}

#[test]
fn no_module_imports_upwards_and_no_two_import_each_other() {
    let source = root().join("server/src");
    let map = fs::read_to_string(source.join("lib.rs")).expect("text");
    let order = map.lines().find(|line| line.starts_with("//! command →")).expect("the order");
    let order: Vec<_> = order.trim_start_matches("//! ").split(" → ").collect();
    let place =
        |module: &str| order.iter().position(|room| Some(*room) == module.split('/').next());

    let mut imports = Imports::new();
    read(&source, "", &mut imports);
    let modules: Vec<_> = imports.keys().cloned().collect();
    for (module, paths) in &mut imports {
        for path in paths {
            let is_in = |module: &&String| path.starts_with(&format!("{module}/"));
            *path = modules.iter().rfind(is_in).expect("a module").clone();
            assert!(place(module) <= place(path), "{module} imports {path}, a room above its own");
            assert!(
                !module.starts_with(&format!("{path}/")),
                "{module} imports {path}, its parent"
            );
        }
    }
    // Removes a module that imports none of the others, as long as there is one. The modules of a
    // circle remain, and those that import them.
    while let Some((module, _)) = imports.iter().find(|(_, paths)| paths.is_empty()) {
        let module = module.clone();
        imports.remove(&module);
        for paths in imports.values_mut() {
            paths.retain(|path| *path != module);
        }
    }
    assert!(imports.is_empty(), "a circle is among these: {imports:#?}");
}
