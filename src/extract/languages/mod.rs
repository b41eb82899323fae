//! The languages: one row of `TABLE`, one `.scm` and one fixture folder each.
//!
//! Owns how a file's language is found and when its grammar is loaded. What a query may capture is
//! described in `parse`.

pub(super) mod heads;
mod nesting;

use std::sync::OnceLock;

use crate::model::RepoPath;

/// The language whose files may be entities, and carry tags.
pub const MARKDOWN: &str = "markdown";

/// One language, as data.
pub struct Language {
    /// Lower-case, as answers and filters say it.
    pub name: &'static str,
    /// Raised when this language's query or grammar would give other rows.
    pub version: u32,
    /// Without the dot, lower-case.
    pub extensions: &'static [&'static str],
    /// Whole file names.
    pub file_names: &'static [&'static str],
    /// Programs named in a `#!` line, without version numbers.
    pub interpreters: &'static [&'static str],
    /// Between the parts of a qualified name: `.` or `::`.
    pub separator: &'static str,
    /// `None`: text without syntax.
    pub grammar: Option<fn() -> tree_sitter::Language>,
    /// The `.scm` next to the language's file.
    pub query: &'static str,
    /// Whether a text would overfill what the grammar's scanner sets aside for its state, which aborts the process, or
    /// make it take time without measure.
    pub(super) overfills: Option<fn(&str) -> bool>,
    /// How lines show definitions, for where the grammar fails.
    pub(super) heads: Option<&'static heads::Heads>,
    /// Read when the first file of the language comes.
    pub(super) compiled: OnceLock<super::parse::Compiled>,
}

impl Language {
    const fn new(name: &'static str, grammar: fn() -> tree_sitter::Language, query: &'static str) -> Self {
        let mut language = Self::without_syntax(name);
        language.grammar = Some(grammar);
        language.query = query;
        language
    }

    const fn without_syntax(name: &'static str) -> Self {
        Self {
            name,
            version: 1,
            extensions: &[],
            file_names: &[],
            interpreters: &[],
            separator: ".",
            grammar: None,
            query: "",
            overfills: None,
            heads: None,
            compiled: OnceLock::new(),
        }
    }

    const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    const fn extensions(mut self, extensions: &'static [&'static str]) -> Self {
        self.extensions = extensions;
        self
    }

    const fn file_names(mut self, names: &'static [&'static str]) -> Self {
        self.file_names = names;
        self
    }

    const fn interpreters(mut self, programs: &'static [&'static str]) -> Self {
        self.interpreters = programs;
        self
    }

    const fn separator(mut self, separator: &'static str) -> Self {
        self.separator = separator;
        self
    }

    const fn heads(mut self, heads: &'static heads::Heads) -> Self {
        self.heads = Some(heads);
        self
    }

    const fn overfills(mut self, overfills: fn(&str) -> bool) -> Self {
        self.overfills = Some(overfills);
        self
    }
}

/// All languages, by name.
pub static LANGUAGES: &[Language] = &TABLE;

static TABLE: [Language; 45] = [
    // C: functions, prototypes, types, fields, macros and file-level variables, in kernel code too.
    Language::new("c", || tree_sitter_c::LANGUAGE.into(), include_str!("c.scm"))
        .extensions(&["c", "h"])
        .heads(&heads::C)
        .version(4),
    // CMake: functions, macros, targets, options and set variables.
    Language::new("cmake", || tree_sitter_cmake::LANGUAGE.into(), include_str!("cmake.scm"))
        .extensions(&["cmake"])
        .file_names(&["CMakeLists.txt"])
        .overfills(nesting::cmake),
    // C++: namespaces, classes, templates, members, and definitions outside their class.
    Language::new("cpp", || tree_sitter_cpp::LANGUAGE.into(), concat!(include_str!("cpp.scm"), include_str!("c.scm")))
        .extensions(&[
            "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp", "inl", "ixx", "cppm", "cu", "cuh",
            "ino",
        ])
        .heads(&heads::CPP)
        .version(3)
        .separator("::"),
    // C#: types, members, namespaces, attributes.
    Language::new("csharp", || tree_sitter_c_sharp::LANGUAGE.into(), include_str!("csharp.scm"))
        .extensions(&["cs", "csx", "cake"])
        .interpreters(&["dotnet-script"]),
    // CSS: classes and ids of selectors, custom properties, keyframes.
    Language::new("css", || tree_sitter_css::LANGUAGE.into(), include_str!("css.scm")).extensions(&["css"]),
    // Dart: classes, mixins, extensions, enums, functions and top-level variables.
    Language::new("dart", || tree_sitter_dart::LANGUAGE.into(), include_str!("dart.scm"))
        .extensions(&["dart"])
        .interpreters(&["dart"]),
    // Devicetree: nodes and their labels, macros, includes.
    Language::new("devicetree", || tree_sitter_devicetree::LANGUAGE.into(), include_str!("devicetree.scm"))
        .extensions(&["dts", "dtsi", "dtso", "overlay"]),
    // Container build files: stages, arguments, base images.
    Language::new("dockerfile", || tree_sitter_containerfile::LANGUAGE.into(), include_str!("dockerfile.scm"))
        .extensions(&["dockerfile", "containerfile"])
        .file_names(&["Dockerfile", "Containerfile"]),
    // Elixir: modules, protocols, functions, macros, structs, types.
    Language::new("elixir", || tree_sitter_elixir::LANGUAGE.into(), include_str!("elixir.scm"))
        .extensions(&["ex", "exs"])
        .file_names(&["mix.lock"])
        .interpreters(&["elixir"]),
    // Erlang: modules, functions, records, types, macros, callbacks.
    Language::new("erlang", || tree_sitter_erlang::LANGUAGE.into(), include_str!("erlang.scm"))
        .extensions(&["erl", "hrl", "escript"])
        .interpreters(&["escript"])
        .separator(":"),
    // Go: functions, methods by receiver, types, fields, package-level variables and constants.
    Language::new("go", || tree_sitter_go::LANGUAGE.into(), include_str!("go.scm")).extensions(&["go"]),
    // GraphQL: types of schemas and their fields, operations, fragments.
    Language::new("graphql", || tree_sitter_graphql::LANGUAGE.into(), include_str!("graphql.scm"))
        .extensions(&["graphql", "gql", "graphqls"]),
    // Haskell: functions, data types, classes, instances.
    Language::new("haskell", || tree_sitter_haskell::LANGUAGE.into(), include_str!("haskell.scm"))
        .extensions(&["hs", "hs-boot", "hsc"])
        .interpreters(&["runhaskell", "runghc", "stack"])
        .overfills(nesting::haskell),
    // HCL (Terraform and kin): blocks by their labels, and attributes of `locals`.
    Language::new("hcl", || tree_sitter_hcl::LANGUAGE.into(), include_str!("hcl.scm"))
        .extensions(&["hcl", "tf", "tfvars", "nomad"]),
    // HTML: elements with an id, headings, scripts and style sheets.
    Language::new("html", || tree_sitter_html::LANGUAGE.into(), include_str!("html.scm"))
        .extensions(&["html", "htm", "xhtml"])
        .overfills(nesting::html),
    // Java: types, members, records, enums, annotations.
    Language::new("java", || tree_sitter_java::LANGUAGE.into(), include_str!("java.scm")).extensions(&["java", "jav"]),
    // JavaScript, modules and CommonJS alike, with JSX.
    Language::new(
        "javascript",
        || tree_sitter_javascript::LANGUAGE.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("javascript.scm"), include_str!("jsx.scm")),
    )
    .extensions(&["js", "jsx", "mjs", "cjs", "es6"])
    .file_names(&["Jakefile"])
    .interpreters(&["node", "bun", "deno"]),
    // JSON: keys of the first two levels.
    Language::new("json", || tree_sitter_json::LANGUAGE.into(), include_str!("json.scm"))
        .extensions(&["json", "jsonc", "json5", "geojson", "jsonld", "webmanifest"])
        .file_names(&[
            ".babelrc",
            ".eslintrc",
            ".jshintrc",
            ".prettierrc",
            ".swcrc",
            "composer.lock",
            "flake.lock",
            "Pipfile.lock",
            "deno.lock",
        ]),
    // Julia: modules, types, functions, macros, constants.
    Language::new("julia", || tree_sitter_julia::LANGUAGE.into(), include_str!("julia.scm"))
        .extensions(&["jl"])
        .interpreters(&["julia"]),
    // Kotlin: classes, objects, interfaces, functions, properties, scripts too.
    Language::new("kotlin", || tree_sitter_kotlin_ng::LANGUAGE.into(), include_str!("kotlin.scm"))
        .extensions(&["kt", "kts"])
        .heads(&heads::KOTLIN)
        .version(2)
        .interpreters(&["kotlin"]),
    // Lua: functions however they are assigned, methods, module-level variables.
    Language::new("lua", || tree_sitter_lua::LANGUAGE.into(), include_str!("lua.scm"))
        .extensions(&["lua", "luau", "rockspec"])
        .file_names(&[".luacheckrc"])
        .interpreters(&["lua", "luajit"]),
    // Makefiles: targets, variables, includes.
    Language::new("make", || tree_sitter_make::LANGUAGE.into(), include_str!("make.scm"))
        .extensions(&["mk", "mak", "make"])
        .file_names(&["Makefile", "makefile", "GNUmakefile", "Kbuild", "BSDmakefile"])
        .interpreters(&["make"])
        .separator("::"),
    // Markdown: headings, nested as sections.
    Language::new(MARKDOWN, || tree_sitter_md::LANGUAGE.into(), include_str!("markdown.scm"))
        .extensions(&["md", "markdown", "mdown", "mkd", "mdx", "qmd"])
        .version(3),
    // Nix: the attributes and functions of a file.
    Language::new("nix", || tree_sitter_nix::LANGUAGE.into(), include_str!("nix.scm")).extensions(&["nix"]),
    // Objective-C: interfaces, protocols, methods, properties, and what C has.
    Language::new("objc", || tree_sitter_objc::LANGUAGE.into(), include_str!("objc.scm"))
        .extensions(&["m", "mm"])
        .version(2),
    // OCaml implementations: values, types, modules, classes.
    Language::new("ocaml", || tree_sitter_ocaml::LANGUAGE_OCAML.into(), include_str!("ocaml.scm"))
        .extensions(&["ml", "eliom"])
        .file_names(&[".ocamlinit"])
        .interpreters(&["ocaml"]),
    // OCaml interfaces: what a module offers.
    Language::new(
        "ocaml_interface",
        || tree_sitter_ocaml::LANGUAGE_OCAML_INTERFACE.into(),
        include_str!("ocaml_interface.scm"),
    )
    .extensions(&["mli", "eliomi"]),
    // PHP: classes, interfaces, traits, enums, functions, and the HTML around them.
    Language::new("php", || tree_sitter_php::LANGUAGE_PHP.into(), include_str!("php.scm"))
        .extensions(&["php", "phtml", "php3", "php4", "php5", "php7", "php8", "phps"])
        .interpreters(&["php"])
        .separator("::"),
    // PowerShell: functions, classes, enums, variables of the script.
    Language::new("powershell", || tree_sitter_powershell::LANGUAGE.into(), include_str!("powershell.scm"))
        .extensions(&["ps1", "psm1", "psd1"])
        .version(2)
        .interpreters(&["pwsh", "powershell"]),
    // Protocol buffers: messages, fields, enums, services and their calls.
    Language::new("proto", || tree_sitter_proto::LANGUAGE.into(), include_str!("proto.scm")).extensions(&["proto"]),
    // Python: modules, classes, functions, methods, and assignments to names at module and class level.
    Language::new("python", || tree_sitter_python::LANGUAGE.into(), include_str!("python.scm"))
        .extensions(&["py", "pyi", "pyw"])
        .file_names(&["SConstruct", "SConscript"])
        .interpreters(&["python", "pypy"])
        .overfills(nesting::python),
    // R: functions and variables of the file level, S4 and R6 classes by their calls.
    Language::new("r", || tree_sitter_r::LANGUAGE.into(), include_str!("r.scm"))
        .extensions(&["r"])
        .file_names(&[".Rprofile"])
        .interpreters(&["Rscript"])
        .separator("::"),
    // Ruby: classes, modules, methods, constants, attributes.
    Language::new("ruby", || tree_sitter_ruby::LANGUAGE.into(), include_str!("ruby.scm"))
        .extensions(&["rb", "rake", "gemspec", "ru", "podspec", "builder", "jbuilder", "rabl"])
        .file_names(&[
            "Rakefile",
            "Gemfile",
            "Guardfile",
            "Capfile",
            "Vagrantfile",
            "Podfile",
            "Fastfile",
            "Brewfile",
            "Berksfile",
            "Thorfile",
            "Dangerfile",
            ".irbrc",
            ".pryrc",
        ])
        .interpreters(&["ruby", "jruby", "rake"])
        .separator("::")
        .overfills(nesting::ruby),
    // Rust: items of every kind, `impl` blocks as containers, macros.
    Language::new("rust", || tree_sitter_rust::LANGUAGE.into(), include_str!("rust.scm"))
        .extensions(&["rs"])
        .heads(&heads::RUST)
        .version(2)
        .separator("::"),
    // Scala, both versions: classes, traits, objects, enums, givens, members.
    Language::new("scala", || tree_sitter_scala::LANGUAGE.into(), include_str!("scala.scm"))
        .extensions(&["scala", "sc", "sbt"])
        .interpreters(&["scala"]),
    // Shell scripts, as bash reads them: functions, file-level variables, aliases, sourced files.
    Language::new("shell", || tree_sitter_bash::LANGUAGE.into(), include_str!("shell.scm"))
        .extensions(&["sh", "bash", "zsh", "ksh", "bats", "ebuild", "eclass"])
        .file_names(&[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".xinitrc",
            ".xprofile",
            ".envrc",
            "PKGBUILD",
            "APKBUILD",
            "bashrc",
            "zshrc",
        ])
        .interpreters(&["sh", "bash", "zsh", "ksh", "dash", "ash", "bats"]),
    // Solidity: contracts, libraries, functions, events, errors, types.
    Language::new("solidity", || tree_sitter_solidity::LANGUAGE.into(), include_str!("solidity.scm"))
        .extensions(&["sol"]),
    // SQL: tables and columns, views, functions, indexes, types, triggers.
    Language::new("sql", || tree_sitter_sequel::LANGUAGE.into(), include_str!("sql.scm"))
        .extensions(&["sql", "ddl", "dml", "psql", "pgsql"]),
    // Swift: types, protocols, extensions, functions, properties.
    Language::new("swift", || tree_sitter_swift::LANGUAGE.into(), include_str!("swift.scm"))
        .extensions(&["swift"])
        .version(2)
        .interpreters(&["swift"]),
    // Plain text: any file that is text and of no other language. Chunks, no symbols.
    Language::without_syntax("text").extensions(&["txt", "text", "log"]),
    // TOML: tables and keys.
    Language::new("toml", || tree_sitter_toml_ng::LANGUAGE.into(), include_str!("toml.scm"))
        .extensions(&["toml"])
        .file_names(&["Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile", "Gopkg.lock"]),
    // TypeScript with JSX: the patterns of TypeScript, on its own grammar.
    Language::new(
        "tsx",
        || tree_sitter_typescript::LANGUAGE_TSX.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm"), include_str!("jsx.scm")),
    )
    .extensions(&["tsx"]),
    // TypeScript: what JavaScript has, and types, interfaces, namespaces, signatures.
    Language::new(
        "typescript",
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm")),
    )
    .extensions(&["ts", "mts", "cts"])
    .interpreters(&["ts-node", "tsx"]),
    // YAML: keys of the first two levels, anchors.
    Language::new("yaml", || tree_sitter_yaml::LANGUAGE.into(), include_str!("yaml.scm"))
        .extensions(&["yaml", "yml", "cff"])
        .file_names(&[".clang-format", ".clang-tidy", ".clangd", ".gemrc", ".yamllint"])
        .overfills(nesting::yaml),
    // Zig: functions, containers, fields, constants, tests.
    Language::new("zig", || tree_sitter_zig::LANGUAGE.into(), include_str!("zig.scm"))
        .extensions(&["zig", "zon"])
        .version(2),
];

/// Text of no other language: chunks, no symbols.
pub(super) fn plain() -> &'static Language {
    by_name("text").expect("it is in the table")
}

/// The language of a file: by its name, its extension, its `#!` line; else plain text.
pub fn of_file(path: &RepoPath, text: &str) -> &'static Language {
    let name = path.file_name();
    let first = |fits: &dyn Fn(&Language) -> bool| LANGUAGES.iter().find(|language| fits(language));
    let by_name = || first(&|language| language.file_names.contains(&name));
    let extension = path.extension().map(str::to_lowercase);
    let by_extension = || {
        let extension = extension.as_deref()?;
        // Headers are named alike in both; the text decides.
        if extension == "h" && is_cpp(text) {
            return self::by_name("cpp");
        }
        first(&|language| language.extensions.contains(&extension))
    };
    let by_interpreter = || {
        let interpreter = interpreter(text)?;
        first(&|language| language.interpreters.contains(&interpreter))
    };
    by_name().or_else(by_extension).or_else(by_interpreter).unwrap_or_else(plain)
}

/// Whether a language with syntax claims the file by its name or extension.
pub fn claims(path: &RepoPath) -> bool {
    of_file(path, "").grammar.is_some()
}

pub fn by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name.eq_ignore_ascii_case(name))
}

/// Whether a header has what C lacks. `extern "C"` alone is what C headers say to C++.
fn is_cpp(text: &str) -> bool {
    const LEADS: [&str; 7] = ["class ", "namespace ", "template<", "template <", "public:", "private:", "protected:"];
    text.lines().any(|line| {
        let line = line.trim_start();
        let is_comment = line.starts_with("//") || line.starts_with('*') || line.starts_with("/*");
        !is_comment && (LEADS.iter().any(|lead| line.starts_with(lead)) || line.contains("std::"))
    })
}

/// The program of a `#!` line: `python` for `#!/usr/bin/env -S python3.11 -u`.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    let program = words.next()?.rsplit('/').next()?;
    let program = if program == "env" { words.next()?.rsplit('/').next()? } else { program };
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}
