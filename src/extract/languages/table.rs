//! The rows of all languages.
//!
//! Owns a language's names, its files, and the grammar and patterns that read them.

use super::{Language, MARKDOWN, by_name, gaps, heads, nesting, parts};

/// All languages, by name.
pub(in crate::extract) static ALL: &[Language] = &TABLE;

const SCOPES_OF_TYPESCRIPT: &[&str] = &[include_str!("scopes/ecmascript.scm"), include_str!("scopes/typescript.scm")];
const SCOPES_OF_TSX: &[&str] =
    &[include_str!("scopes/ecmascript.scm"), include_str!("scopes/typescript.scm"), include_str!("scopes/jsx.scm")];
const SCOPES_OF_JAVASCRIPT: &[&str] =
    &[include_str!("scopes/ecmascript.scm"), include_str!("scopes/javascript.scm"), include_str!("scopes/jsx.scm")];

static TABLE: [Language; 49] = [
    // Components of Astro: their scripts, as TypeScript.
    Language::new(
        "astro",
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm")),
    )
    .scopes(SCOPES_OF_TYPESCRIPT)
    .version(6)
    .extensions(&["astro"])
    .parts(parts::of_astro)
    .whole_heads()
    .gaps(&gaps::TYPESCRIPT)
    .heads(&heads::ECMASCRIPT),
    // C: functions, prototypes, types, fields, macros and file-level variables, in kernel code too.
    Language::new(
        "c",
        || tree_sitter_c::LANGUAGE.into(),
        concat!(include_str!("c.scm"), include_str!("c_directives.scm")),
    )
    .scopes(&[include_str!("scopes/c.scm")])
    .extensions(&["c", "h"])
    .heads(&heads::C)
    .version(10)
    .whole_heads()
    .gaps(&gaps::C),
    // CMake: functions, macros, targets, options and set variables.
    Language::new("cmake", || tree_sitter_cmake::LANGUAGE.into(), include_str!("cmake.scm"))
        .version(2)
        .extensions(&["cmake"])
        .file_names(&["CMakeLists.txt"])
        .overfills(nesting::cmake),
    // C++: namespaces, classes, templates, members, and definitions outside their class.
    Language::new(
        "cpp",
        || tree_sitter_cpp::LANGUAGE.into(),
        concat!(include_str!("cpp.scm"), include_str!("c.scm"), include_str!("c_directives.scm")),
    )
    .scopes(&[include_str!("scopes/c.scm"), include_str!("scopes/cpp.scm")])
    .extensions(&[
        "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp", "inl", "ixx", "cppm", "cu", "cuh", "ino",
    ])
    .heads(&heads::CPP)
    .version(8)
    .separator("::")
    .whole_heads()
    .gaps(&gaps::CPP),
    // C#: types, members, namespaces, attributes.
    Language::new("csharp", || tree_sitter_c_sharp::LANGUAGE.into(), include_str!("csharp.scm"))
        .scopes(&[include_str!("scopes/csharp.scm")])
        .extensions(&["cs", "csx", "cake"])
        .interpreters(&["dotnet-script"])
        .version(5)
        .whole_heads()
        .gaps(&gaps::CSHARP)
        .heads(&heads::CSHARP),
    // CSS: classes and ids of selectors, custom properties, keyframes.
    Language::new("css", || tree_sitter_css::LANGUAGE.into(), include_str!("css.scm")).extensions(&["css"]),
    // Dart: classes, mixins, extensions, enums, functions and top-level variables.
    Language::new("dart", || tree_sitter_dart::LANGUAGE.into(), include_str!("dart.scm"))
        .scopes(&[include_str!("scopes/dart.scm")])
        .extensions(&["dart"])
        .interpreters(&["dart"])
        .version(4)
        .whole_heads()
        .heads(&heads::DART),
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
        .interpreters(&["elixir"])
        .version(7)
        .heads(&heads::ELIXIR),
    // Erlang: modules, functions, records, types, macros, callbacks.
    Language::new("erlang", || tree_sitter_erlang::LANGUAGE.into(), include_str!("erlang.scm"))
        .extensions(&["erl", "hrl", "escript"])
        .interpreters(&["escript"])
        .separator(":")
        .version(4),
    // Go: functions, methods by receiver, types, fields, package-level variables and constants.
    Language::new("go", || tree_sitter_go::LANGUAGE.into(), include_str!("go.scm"))
        .scopes(&[include_str!("scopes/go.scm")])
        .extensions(&["go"])
        .version(5)
        .whole_heads()
        .gaps(&gaps::GO)
        .heads(&heads::GO),
    // GraphQL: types of schemas and their fields, operations, fragments.
    Language::new("graphql", || tree_sitter_graphql::LANGUAGE.into(), include_str!("graphql.scm"))
        .version(2)
        .extensions(&["graphql", "gql", "graphqls"]),
    // Haskell: functions, data types, classes, instances.
    Language::new("haskell", || tree_sitter_haskell::LANGUAGE.into(), include_str!("haskell.scm"))
        .extensions(&["hs", "hs-boot", "hsc"])
        .interpreters(&["runhaskell", "runghc", "stack"])
        .overfills(nesting::haskell)
        .version(4)
        .heads(&heads::HASKELL),
    // HCL (Terraform and kin): blocks by their labels, and attributes of `locals`.
    Language::new("hcl", || tree_sitter_hcl::LANGUAGE.into(), include_str!("hcl.scm"))
        .version(2)
        .extensions(&["hcl", "tf", "tfvars", "nomad"]),
    // HTML: elements with an id, headings, scripts and style sheets.
    Language::new("html", || tree_sitter_html::LANGUAGE.into(), include_str!("html.scm"))
        .extensions(&["html", "htm", "xhtml"])
        .overfills(nesting::html),
    // Java: types, members, records, enums, annotations.
    Language::new("java", || tree_sitter_java::LANGUAGE.into(), include_str!("java.scm"))
        .scopes(&[include_str!("scopes/java.scm")])
        .extensions(&["java", "jav"])
        .version(3)
        .whole_heads()
        .heads(&heads::JAVA),
    // JavaScript, modules and CommonJS alike, with JSX.
    Language::new(
        "javascript",
        || tree_sitter_javascript::LANGUAGE.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("javascript.scm"), include_str!("jsx.scm")),
    )
    .scopes(SCOPES_OF_JAVASCRIPT)
    .extensions(&["js", "jsx", "mjs", "cjs", "es6"])
    .file_names(&["Jakefile"])
    .interpreters(&["node", "bun", "deno"])
    .version(6)
    .whole_heads()
    .heads(&heads::ECMASCRIPT),
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
        .interpreters(&["julia"])
        .version(4)
        .gaps(&gaps::JULIA),
    // Kotlin: classes, objects, interfaces, functions, properties, scripts too.
    Language::new("kotlin", || tree_sitter_kotlin_ng::LANGUAGE.into(), include_str!("kotlin.scm"))
        .scopes(&[include_str!("scopes/kotlin.scm")])
        .extensions(&["kt", "kts"])
        .heads(&heads::KOTLIN)
        .version(6)
        .interpreters(&["kotlin"])
        .whole_heads()
        .gaps(&gaps::KOTLIN),
    // Lua: functions however they are assigned, methods, module-level variables.
    Language::new("lua", || tree_sitter_lua::LANGUAGE.into(), include_str!("lua.scm"))
        .scopes(&[include_str!("scopes/lua.scm")])
        .extensions(&["lua", "luau", "rockspec"])
        .file_names(&[".luacheckrc"])
        .interpreters(&["lua", "luajit"])
        .version(4)
        .heads(&heads::LUA),
    // Makefiles: targets, variables, includes.
    Language::new("make", || tree_sitter_make::LANGUAGE.into(), include_str!("make.scm"))
        .extensions(&["mk", "mak", "make"])
        .file_names(&["Makefile", "makefile", "GNUmakefile", "Kbuild", "BSDmakefile"])
        .interpreters(&["make"])
        .separator("::"),
    // Markdown: headings, nested as sections.
    Language::new(MARKDOWN, || tree_sitter_md::LANGUAGE.into(), include_str!("markdown.scm"))
        .extensions(&["md", "markdown", "mdown", "mkd", "mdx", "qmd"])
        .version(5),
    // MATLAB, where the text of a `.m` shows it. Chunks, no symbols.
    Language::without_syntax("matlab"),
    // Nix: the attributes and functions of a file.
    Language::new("nix", || tree_sitter_nix::LANGUAGE.into(), include_str!("nix.scm")).version(2).extensions(&["nix"]),
    // Objective-C: interfaces, protocols, methods, properties, and what C has.
    Language::new(
        "objc",
        || tree_sitter_objc::LANGUAGE.into(),
        concat!(include_str!("objc.scm"), include_str!("c.scm")),
    )
    .extensions(&["m", "mm"])
    .version(6)
    .whole_heads()
    .gaps(&gaps::C)
    .heads(&heads::OBJC),
    // OCaml implementations: values, types, modules, classes.
    Language::new("ocaml", || tree_sitter_ocaml::LANGUAGE_OCAML.into(), include_str!("ocaml.scm"))
        .version(3)
        .extensions(&["ml", "eliom"])
        .file_names(&[".ocamlinit"])
        .interpreters(&["ocaml"]),
    // OCaml interfaces: what a module offers.
    Language::new(
        "ocaml_interface",
        || tree_sitter_ocaml::LANGUAGE_OCAML_INTERFACE.into(),
        include_str!("ocaml_interface.scm"),
    )
    .version(2)
    .extensions(&["mli", "eliomi"]),
    // PHP: classes, interfaces, traits, enums, functions, and the HTML around them.
    Language::new("php", || tree_sitter_php::LANGUAGE_PHP.into(), include_str!("php.scm"))
        .scopes(&[include_str!("scopes/php.scm")])
        .extensions(&["php", "phtml", "php3", "php4", "php5", "php7", "php8", "phps"])
        .interpreters(&["php"])
        .separator("::")
        .version(3)
        .parts(parts::of_php)
        .whole_heads()
        .heads(&heads::PHP),
    // PowerShell: functions, classes, enums, variables of the script.
    Language::new("powershell", || tree_sitter_powershell::LANGUAGE.into(), include_str!("powershell.scm"))
        .extensions(&["ps1", "psm1", "psd1"])
        .version(6)
        .interpreters(&["pwsh", "powershell"])
        .gaps(&gaps::POWERSHELL)
        .heads(&heads::POWERSHELL),
    // Protocol buffers: messages, fields, enums, services and their calls.
    Language::new("proto", || tree_sitter_proto::LANGUAGE.into(), include_str!("proto.scm"))
        .version(3)
        .extensions(&["proto"]),
    // Python: modules, classes, functions, methods, and assignments to names at module and class level.
    Language::new("python", || tree_sitter_python::LANGUAGE.into(), include_str!("python.scm"))
        .scopes(&[include_str!("scopes/python.scm")])
        .extensions(&["py", "pyi", "pyw"])
        .file_names(&["SConstruct", "SConscript"])
        .interpreters(&["python", "pypy"])
        .overfills(nesting::python)
        .version(4)
        .heads(&heads::PYTHON),
    // R: functions and variables of the file level, S4 and R6 classes by their calls.
    Language::new("r", || tree_sitter_r::LANGUAGE.into(), include_str!("r.scm"))
        .version(3)
        .extensions(&["r"])
        .file_names(&[".Rprofile"])
        .interpreters(&["Rscript"])
        .separator("::"),
    // Ruby: classes, modules, methods, constants, attributes.
    Language::new("ruby", || tree_sitter_ruby::LANGUAGE.into(), include_str!("ruby.scm"))
        .scopes(&[include_str!("scopes/ruby.scm")])
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
        .overfills(nesting::ruby)
        .version(4)
        .heads(&heads::RUBY),
    // Rust: items of every kind, `impl` blocks as containers, macros.
    Language::new("rust", || tree_sitter_rust::LANGUAGE.into(), include_str!("rust.scm"))
        .scopes(&[include_str!("scopes/rust.scm")])
        .extensions(&["rs"])
        .heads(&heads::RUST)
        .gaps(&gaps::RUST)
        .version(6)
        .separator("::")
        .whole_heads(),
    // Scala, both versions: classes, traits, objects, enums, givens, members.
    Language::new("scala", || tree_sitter_scala::LANGUAGE.into(), include_str!("scala.scm"))
        .scopes(&[include_str!("scopes/scala.scm")])
        .extensions(&["scala", "sc", "sbt"])
        .interpreters(&["scala"])
        .version(4)
        .heads(&heads::SCALA),
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
        .interpreters(&["sh", "bash", "zsh", "ksh", "dash", "ash", "bats"])
        .version(5)
        .gaps(&gaps::SHELL)
        .heads(&heads::SHELL),
    // Solidity: contracts, libraries, functions, events, errors, types.
    Language::new("solidity", || tree_sitter_solidity::LANGUAGE.into(), include_str!("solidity.scm"))
        .extensions(&["sol"])
        .version(2)
        .whole_heads(),
    // SQL: tables and columns, views, functions, indexes, types, triggers.
    Language::new("sql", || tree_sitter_sequel::LANGUAGE.into(), include_str!("sql.scm"))
        .extensions(&["sql", "ddl", "dml", "psql", "pgsql"])
        .version(6)
        .gaps(&gaps::SQL)
        .heads(&heads::SQL),
    // Components of Svelte: their scripts, as TypeScript.
    Language::new(
        "svelte",
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm"), include_str!("svelte.scm")),
    )
    .scopes(SCOPES_OF_TYPESCRIPT)
    .version(6)
    .extensions(&["svelte"])
    .parts(parts::of_svelte)
    .whole_heads()
    .gaps(&gaps::TYPESCRIPT)
    .heads(&heads::ECMASCRIPT),
    // Swift: types, protocols, extensions, functions, properties.
    Language::new("swift", || tree_sitter_swift::LANGUAGE.into(), include_str!("swift.scm"))
        .scopes(&[include_str!("scopes/swift.scm")])
        .extensions(&["swift"])
        .version(6)
        .interpreters(&["swift"])
        .whole_heads()
        .gaps(&gaps::SWIFT)
        .heads(&heads::SWIFT),
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
    .scopes(SCOPES_OF_TSX)
    .extensions(&["tsx"])
    .version(7)
    .whole_heads()
    .gaps(&gaps::TYPESCRIPT)
    .heads(&heads::ECMASCRIPT),
    // TypeScript: what JavaScript has, and types, interfaces, namespaces, signatures. findings/typescript-tags-query.sh
    Language::new(
        "typescript",
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm")),
    )
    .scopes(SCOPES_OF_TYPESCRIPT)
    .extensions(&["ts", "mts", "cts"])
    .interpreters(&["ts-node", "tsx"])
    .version(7)
    .whole_heads()
    .gaps(&gaps::TYPESCRIPT)
    .heads(&heads::ECMASCRIPT),
    // Components of Vue: their scripts, as TypeScript.
    Language::new(
        "vue",
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm")),
    )
    .scopes(SCOPES_OF_TYPESCRIPT)
    .version(6)
    .extensions(&["vue"])
    .parts(parts::of_component)
    .whole_heads()
    .gaps(&gaps::TYPESCRIPT)
    .heads(&heads::ECMASCRIPT),
    // YAML: keys of the first two levels, anchors.
    Language::new("yaml", || tree_sitter_yaml::LANGUAGE.into(), include_str!("yaml.scm"))
        .extensions(&["yaml", "yml", "cff"])
        .file_names(&[".clang-format", ".clang-tidy", ".clangd", ".gemrc", ".yamllint"])
        .overfills(nesting::yaml),
    // Zig: functions, containers, fields, constants, tests.
    Language::new("zig", || tree_sitter_zig::LANGUAGE.into(), include_str!("zig.scm"))
        .extensions(&["zig", "zon"])
        .version(4)
        .gaps(&gaps::ZIG)
        .heads(&heads::ZIG),
];

/// Objective-C++: C++ outside of interfaces, implementations and protocols. Its version is that of Objective-C.
pub(super) static OBJECTIVE_CPP: Language = Language::new(
    "objc",
    || tree_sitter_objc::LANGUAGE.into(),
    concat!(include_str!("objc.scm"), include_str!("c.scm")),
)
.version(6)
.whole_heads()
.gaps(&gaps::C)
.heads(&heads::OBJC)
.parts(parts::of_objective_cpp)
.outside(|| by_name("cpp").expect("it is a language"));

/// JavaScript with types, as Flow has them; its version is that of JavaScript. The patterns of TypeScript, on the grammar of TSX.
pub(super) static FLOW: Language = Language::new(
    "javascript",
    || tree_sitter_typescript::LANGUAGE_TSX.into(),
    concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm"), include_str!("jsx.scm")),
)
.scopes(SCOPES_OF_TSX)
.version(6)
.whole_heads()
.gaps(&gaps::FLOW)
.heads(&heads::ECMASCRIPT);
