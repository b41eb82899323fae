//! Which files a module's name can refer to.
//!
//! Owns reading a module as written, the paths that it can have, and whether a definition at some path and in some
//! container belongs to it. Pure: `resolve` asks what exists.

use super::families::{Family, Spelling};

/// A module as an importing file refers to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Module {
    /// The folder from which `parts` lead on; `None`: from any root.
    pub anchor: Option<Vec<String>>,
    pub parts: Vec<String>,
}

/// Parts that a qualified name or a module is made of.
pub(super) fn parts(text: &str) -> Vec<String> {
    let split = text.split(['.', ':', '\\', '/', '#']).map(str::trim);
    split.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn parts_of_path(path: &str) -> Vec<String> {
    path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Whether a dotted module is `first`, or below it.
pub(super) fn is_below(module: &str, first: &str) -> bool {
    module.strip_prefix(first).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The file name without the part that names the language: `a.d.ts` is `a`.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.strip_suffix(".d").unwrap_or(stem)
}

impl Module {
    fn floating(parts: Vec<String>) -> Self {
        Self { anchor: None, parts }
    }

    /// The module below this one.
    pub(super) fn child(&self, names: &[String]) -> Self {
        let mut child = self.clone();
        child.parts.extend_from_slice(names);
        child
    }

    /// Lists what `written` can refer to in the file `importer`, likeliest first. `inline` counts the modules inside
    /// the file around it; `package` is the folder and the name of the Go module that the file belongs to.
    pub(super) fn read(
        family: &Family,
        importer: &str,
        written: &str,
        inline: usize,
        package: Option<(&str, &str)>,
    ) -> Vec<Self> {
        match family.spelling {
            Spelling::Dotted => vec![Self::dotted(importer, written)],
            Spelling::Rust => Self::rust(importer, written, inline),
            Spelling::Script => Self::script(family, importer, written).into_iter().collect(),
            Spelling::Go => vec![Self::go(written, package)],
            Spelling::File => vec![Self::file(importer, written)],
            // A file of PHP or Lua is required by its path.
            Spelling::Names if written.contains('/') && written.contains('.') => vec![Self::file(importer, written)],
            Spelling::Names => vec![Self::floating(parts(written))],
        }
    }

    fn dotted(importer: &str, written: &str) -> Self {
        let name = written.trim_start_matches('.');
        let dots = written.len() - name.len();
        let anchor = (dots > 0).then(|| {
            let mut folder = parts_of_path(folder(importer));
            folder.truncate(folder.len().saturating_sub(dots - 1));
            folder
        });
        Self { anchor, parts: parts(name) }
    }

    fn rust(importer: &str, written: &str, inline: usize) -> Vec<Self> {
        let mut words = parts(written);
        let first = words.first().map_or("", String::as_str);
        let folders = parts_of_path(folder(importer));
        let own = || {
            let mut own = folders.clone();
            if !matches!(stem(importer), "mod" | "lib" | "main") {
                own.push(stem(importer).to_owned());
            }
            own
        };
        let source = folders.iter().rposition(|part| part == "src");
        match first {
            "crate" => {
                let anchor = source.map_or_else(own, |at| folders[..=at].to_vec());
                vec![Self { anchor: Some(anchor), parts: words.split_off(1) }]
            }
            "self" => vec![Self { anchor: Some(own()), parts: words.split_off(1) }],
            "super" => {
                let ups = words.iter().take_while(|word| *word == "super").count();
                let mut anchor = own();
                anchor.truncate(anchor.len().saturating_sub(ups.saturating_sub(inline)));
                vec![Self { anchor: Some(anchor), parts: words.split_off(ups) }]
            }
            "std" | "core" | "alloc" => Vec::new(),
            _ => {
                let mut found = vec![Self { anchor: Some(own()), parts: words.clone() }, Self::floating(words.clone())];
                // Tests, examples and binaries name the library of their own package.
                let package = match source {
                    Some(at) if stem(importer) == "main" || folders.get(at + 1).is_some_and(|part| part == "bin") => {
                        Some(&folders[..at])
                    }
                    Some(_) => None,
                    None => folders
                        .iter()
                        .rposition(|part| matches!(part.as_str(), "tests" | "benches" | "examples"))
                        .map(|at| &folders[..at]),
                };
                // `use ::{a, b}` names no module.
                if let Some(package) = package.filter(|_| !words.is_empty()) {
                    let mut anchor = package.to_vec();
                    anchor.push("src".to_owned());
                    found.push(Self { anchor: Some(anchor), parts: words.split_off(1) });
                }
                found
            }
        }
    }

    fn script(family: &Family, importer: &str, written: &str) -> Option<Self> {
        let known = family.extensions.iter().find_map(|extension| written.strip_suffix(&format!(".{extension}")));
        let bare = known.unwrap_or(written);
        if bare.starts_with('.') {
            return Some(Self::file(importer, bare));
        }
        if let Some(rest) = bare.strip_prefix("@/").or_else(|| bare.strip_prefix("~/")) {
            return Some(Self::floating(parts_of_path(rest)));
        }
        if bare.contains(':') {
            return None;
        }
        let words = parts_of_path(bare);
        let scope = usize::from(bare.starts_with('@') && words.len() > 1);
        Some(Self::floating(words[scope..].to_vec()))
    }

    fn go(written: &str, package: Option<(&str, &str)>) -> Self {
        let words = parts_of_path(written);
        match package {
            Some((folder, name)) => match written.strip_prefix(name) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                    Self { anchor: Some(parts_of_path(folder)), parts: parts_of_path(rest) }
                }
                _ => Self::floating(words),
            },
            // Without go.mod, the host and its owner are guessed.
            None if words.first().is_some_and(|host| host.contains('.')) && words.len() > 3 => {
                Self::floating(words[3..].to_vec())
            }
            None => Self::floating(words),
        }
    }

    fn file(importer: &str, written: &str) -> Self {
        let mut anchor = parts_of_path(folder(importer));
        let mut relative = false;
        let mut rest = written.trim_start_matches("$(dirname \"$0\")/").trim_start_matches("${BASH_SOURCE%/*}/");
        loop {
            if let Some(further) = rest.strip_prefix("./") {
                rest = further;
            } else if rest == "." {
                rest = "";
            } else if let Some(further) = rest.strip_prefix("../").or((rest == "..").then_some("")) {
                anchor.pop();
                rest = further;
            } else {
                break;
            }
            relative = true;
        }
        Self { anchor: relative.then_some(anchor), parts: parts_of_path(rest) }
    }

    /// Folders that this module can lead on from, likeliest first.
    pub(super) fn bases(&self, family: &Family, importer: &str) -> Vec<String> {
        let mut bases: Vec<String> = Vec::new();
        if let Some(anchor) = &self.anchor {
            bases.push(anchor.join("/"));
        } else {
            let mut around = folder(importer);
            loop {
                bases.push(around.to_owned());
                bases.extend(family.roots.iter().map(|root| joined(around, root)));
                if around.is_empty() {
                    break;
                }
                around = folder(around);
            }
        }
        bases
    }

    /// Paths that a file of this module can have in a folder, likeliest first.
    pub(super) fn paths_below(&self, family: &Family, base: &str) -> Vec<String> {
        let mut whole = joined(base, &self.parts.join("/"));
        // A workspace keeps the sources of a crate in a folder of their own.
        if family.spelling == Spelling::Rust && self.anchor.is_none() && !self.parts.is_empty() {
            whole = joined(&joined(base, &self.parts[0]), "src");
            whole = joined(&whole, &self.parts[1..].join("/"));
        }
        let has_extension = self.parts.last().is_some_and(|last| last.contains('.'));
        if family.spelling == Spelling::File && has_extension {
            return vec![whole];
        }
        let mut paths = Vec::new();
        // What is around a module inside a file is the file.
        let is_file = family.spelling == Spelling::Rust && self.anchor.is_some() && !whole.is_empty();
        for extension in family.extensions {
            if !self.parts.is_empty() || is_file {
                paths.push(format!("{whole}.{extension}"));
            }
            paths.extend(family.index.iter().map(|index| joined(&whole, &format!("{index}.{extension}"))));
        }
        paths
    }

    /// Whether a file at that path, which need not exist, is this module's.
    pub(super) fn is_at(&self, family: &Family, path: &str) -> bool {
        let own = module_path(family, path, false);
        let wanted: Vec<String> =
            self.anchor.iter().flatten().chain(&self.parts).filter_map(|p| said(family, p)).collect();
        if self.anchor.is_some() { own == wanted } else { !wanted.is_empty() && own.ends_with(&wanted) }
    }

    /// Whether the last part has the extension of its file. `./user.service` is a whole name: scripts are imported without
    /// their extension.
    pub(super) fn has_extension(&self, family: &Family) -> bool {
        family.spelling != Spelling::Script && self.parts.last().is_some_and(|last| last.contains('.'))
    }

    /// The names that lead to the module's definitions.
    pub(super) fn names(&self, family: &Family) -> Vec<String> {
        self.anchor.iter().flatten().chain(&self.parts).filter_map(|part| said(family, part)).collect()
    }

    /// Whether it offers the definitions of a home, with [`Self::names`] of the same family; if so, how many folders lead to
    /// the module.
    pub(super) fn offers(&self, family: &Family, names: &[String], home: &DefiningModule) -> Option<usize> {
        let DefiningModule { own, inside, whole } = home;
        let any_container = family.spelling == Spelling::File;
        if self.anchor.is_some() {
            let here = (inside.is_empty() || any_container) && own == names;
            return (here || whole == names).then_some(0);
        }
        if names.is_empty() {
            return None;
        }
        if (inside.is_empty() || any_container) && own.ends_with(names) {
            return Some(own.len() - names.len());
        }
        if names.len() > inside.len() && whole.ends_with(names) {
            return Some(whole.len() - names.len());
        }
        // A namespace, whatever its files are called.
        let named = matches!(family.spelling, Spelling::Names | Spelling::File) && !inside.is_empty();
        (named && inside == names).then_some(own.len())
    }
}

/// Where a definition is, as modules of a family are compared with it.
pub(super) struct DefiningModule {
    /// The module that its file is.
    own: Vec<String>,
    /// The containers in the file.
    inside: Vec<String>,
    /// The module, then the containers.
    whole: Vec<String>,
}

impl DefiningModule {
    /// The module of a definition in `container` of the file at `path`; for modules that are written with an extension
    /// or without.
    pub(super) fn new(family: &Family, path: &str, container: Option<&str>, with_extension: bool) -> Self {
        let own = module_path(family, path, with_extension);
        let inside = container.map(parts).unwrap_or_default();
        let whole = own.iter().cloned().chain(inside.iter().map(|part| part.replace('-', "_"))).collect();
        Self { own, inside, whole }
    }
}

/// How other files may write the module that a file is, with the name they must then take from it.
pub(super) fn spellings(family: &Family, path: &str) -> Vec<(String, Option<String>)> {
    let mut whole = parts_of_path(folder(path));
    if family.spelling == Spelling::File {
        whole.push(path.rsplit('/').next().unwrap_or(path).to_owned());
    } else if !family.folders && !family.index.contains(&stem(path)) {
        whole.push(stem(path).to_owned());
    }
    let separator = match family.spelling {
        Spelling::Dotted => ".",
        Spelling::Rust => "::",
        Spelling::Names if !family.languages.contains(&"php") => ".",
        Spelling::Names => "\\",
        Spelling::Script | Spelling::Go | Spelling::File => "/",
    };
    let leads: &[&str] = match family.spelling {
        Spelling::Dotted => &["", ".", "..", "...", "...."],
        Spelling::Rust => &["", "crate::", "self::", "super::", "super::super::"],
        Spelling::Script => &["", "./", "../", "../../", "../../../", "../../../../"],
        Spelling::File => &["", "./", "../", "../../"],
        Spelling::Go | Spelling::Names => &[""],
    };
    let extensions: &[&str] = if family.spelling == Spelling::Script { &["", ".js", ".ts", ".tsx"] } else { &[""] };
    let mut found = Vec::new();
    for from in 0..=whole.len() {
        let name = whole[from..].join(separator);
        for lead in leads.iter().filter(|lead| !lead.is_empty() || !name.is_empty()) {
            let written = format!("{lead}{name}");
            let written = if name.is_empty() { written.trim_end_matches([':', '/']).to_owned() } else { written };
            found.extend(extensions.iter().map(|extension| (format!("{written}{extension}"), None)));
            // `from a import b`, `use a::b`: the module is the name that is taken.
            if matches!(family.spelling, Spelling::Dotted | Spelling::Rust)
                && let Some((last, before)) = whole[from..].split_last()
            {
                let before = format!("{lead}{}", before.join(separator));
                found.push((before.trim_end_matches(':').to_owned(), Some(last.clone())));
            }
        }
    }
    found
}

fn said(family: &Family, part: &str) -> Option<String> {
    (!family.hollow.contains(&part)).then(|| part.replace('-', "_"))
}

/// The name of a file's module, or of its folder where that is the module.
fn module_path(family: &Family, path: &str, with_extension: bool) -> Vec<String> {
    let mut own: Vec<String> = parts_of_path(folder(path)).iter().filter_map(|part| said(family, part)).collect();
    let name = stem(path);
    if with_extension {
        own.push(path.rsplit('/').next().unwrap_or(path).replace('-', "_"));
    } else if !family.folders && !family.index.contains(&name) {
        own.push(name.replace('-', "_"));
    }
    own
}

pub(super) fn joined(folder: &str, rest: &str) -> String {
    match (folder.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(language: &str, importer: &str, written: &str, path: &str, container: Option<&str>) -> bool {
        let family = Family::for_language(language);
        let modules = Module::read(family, importer, written, 0, None);
        modules.iter().any(|module| {
            let home = DefiningModule::new(family, path, container, module.has_extension(family));
            module.offers(family, &module.names(family), &home).is_some()
        })
    }

    #[test]
    fn modules_are_read_as_their_language_means_them() {
        assert!(offers("python", "shop/views.py", ".models", "shop/models.py", None));
        assert!(offers("python", "shop/sub/views.py", "..models", "shop/models/__init__.py", None));
        assert!(!offers("python", "shop/views.py", ".models", "blog/models.py", None));
        assert!(offers("python", "x.py", "django.db.models", "src/django/db/models/__init__.py", None));
        assert!(offers("rust", "crates/a/src/x/y.rs", "crate::x", "crates/a/src/x/mod.rs", None));
        assert!(offers("rust", "crates/a/src/x/y.rs", "super::z", "crates/a/src/x/z.rs", None));
        assert!(offers("rust", "crates/a/src/x.rs", "b_c::d", "crates/b-c/src/d.rs", None));
        assert!(offers("rust", "src/x.rs", "crate::y::T", "src/y.rs", Some("T")));
        assert!(offers("rust", "tests/it.rs", "shop::cart", "src/cart.rs", None));
        assert!(!offers("rust", "src/x.rs", "std::fs", "src/fs.rs", None));
        assert!(offers("typescript", "src/a/b.ts", "../c.js", "src/c/index.ts", None));
        assert!(offers("typescript", "src/a.ts", "./user.service", "src/user.service.ts", None));
        assert!(!offers("typescript", "src/a.ts", "./user.service", "src/user.ts", None));
        assert!(offers("typescript", "src/a.ts", "./routeTree.gen.js", "src/routeTree.gen.ts", None));
        assert!(offers("java", "src/main/java/p/A.java", "org.shop", "src/main/java/org/shop/Cart.java", None));
        assert!(offers("c", "src/a.c", "util/list.h", "include/util/list.h", None));
        assert!(offers("csharp", "A.cs", "Shop.Core", "lib/Cart.cs", Some("Shop.Core")));
    }

    #[test]
    fn a_module_without_a_name_is_read_in_every_language() {
        for language in ["python", "rust", "typescript", "go", "java", "c", "php", "lua", "dart", "shell"] {
            for importer in ["tests/it.rs", "src/main.rs", "a.py", ""] {
                for written in ["", "::", ".", "..", "/", "./", "../", "@", "@/", "crate", "super::super", "\\", "é"] {
                    offers(language, importer, written, "src/a.rs", None);
                    offers(language, importer, written, "", Some("::"));
                }
            }
        }
    }
}
