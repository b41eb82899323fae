//! Rules by which languages resolve names and modules, as data: one row per family of languages that see each other's
//! names.
//!
//! Owns only the data; `modules` and `resolve` read it.

/// How a module is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `a.b`, and `.b`, `..b` from the importing file's folder.
    Dotted,
    /// `crate::a`, `self::a`, `super::a`, or a crate's name first.
    Rust,
    /// `./a` from the importing file's folder, else a package.
    Script,
    /// A path below a module that `go.mod` names.
    Go,
    /// A file's path, from the importing file's folder or from some root.
    File,
    /// `a::b`, `a.b`, `a\b` or `a/b`: names alone, from some root.
    Names,
}

/// The names that an import of a module brings if it names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// All its names.
    Everything,
    /// The last part of its name, which stands for it.
    Last,
    /// The module's whole name, which stands for it.
    Whole,
    Nothing,
}

/// Where a name without a qualifier can come from, other than its own file and imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// From nowhere else.
    File,
    /// From the files of the same folder.
    Folder,
    /// From anywhere.
    Program,
}

pub(super) struct Family {
    pub languages: &'static [&'static str],
    pub spelling: Spelling,
    pub plain: Plain,
    pub scope: Scope,
    /// A bare name may be a member of the type around it.
    pub implicit_self: bool,
    /// A type's members may be outside its definition, in other files too.
    pub open_types: bool,
    /// One file declares what another defines.
    pub headers: bool,
    /// A module is a folder, whatever its files are called.
    pub folders: bool,
    /// Why implementers are unknown in a language whose types do not name the interfaces that they implement.
    pub unstated_implementers: Option<&'static str>,
    /// Words for the object or type that the code around belongs to, and for what that inherits from.
    pub itself: &'static [&'static str],
    pub above: &'static [&'static str],
    pub extensions: &'static [&'static str],
    /// Files that stand for their folder.
    pub index: &'static [&'static str],
    /// Folders that are not part of a module's name.
    pub hollow: &'static [&'static str],
    /// Folders that modules may be looked for in, in addition to those around the importing file.
    pub roots: &'static [&'static str],
    /// Members that the language's own types have, with spaces between: the only definition of such a name proves
    /// nothing.
    pub common_members: &'static str,
}

const NONE: Family = Family {
    languages: &[],
    spelling: Spelling::File,
    plain: Plain::Everything,
    scope: Scope::Program,
    implicit_self: false,
    open_types: false,
    headers: false,
    folders: false,
    unstated_implementers: None,
    itself: &["self", "this"],
    above: &["super"],
    extensions: &[],
    index: &[],
    hollow: &[],
    roots: &["src", "lib"],
    common_members: "",
};

static FAMILIES: &[Family] = &[
    Family {
        languages: &["python"],
        spelling: Spelling::Dotted,
        plain: Plain::Whole,
        scope: Scope::File,
        itself: &["self", "cls"],
        above: &["super()"],
        extensions: &["py", "pyi"],
        index: &["__init__"],
        roots: &["src", "lib", "python"],
        common_members: "\
            add append capitalize clear close copy count decode discard encode endswith exists extend find flush \
            format get group index insert isdigit items join keys lower lstrip match name open pop popitem read \
            readline remove replace reverse rstrip search seek send setdefault sort split splitlines start \
            startswith strip strftime sub tell title union update upper values wait write",
        ..NONE
    },
    Family {
        languages: &["rust"],
        spelling: Spelling::Rust,
        plain: Plain::Last,
        scope: Scope::File,
        open_types: true,
        itself: &["self", "Self"],
        above: &[],
        extensions: &["rs"],
        index: &["mod", "lib", "main"],
        hollow: &["src"],
        roots: &["src"],
        common_members: "\
            abs all and and_then any append as_any as_bytes as_deref as_deref_mut as_mut as_mut_ptr as_path \
            as_ptr as_ref as_secs as_slice as_str ascii binary_search bitand borrow by_ref bytes capacity ceil \
            chain char_indices chars checked_add checked_sub chunks chunks_exact clear clone cloned cmp cmp_by \
            collect compare_exchange contains contains_char contains_key copied copy_from_slice count create \
            cycle dedup default deref display downcast_ref drain drop duration_since elapsed elements ends_with \
            entry enumerate eq eq_ignore_ascii_case err exists expect expect_err extend extend_from_slice \
            extension fetch_add file_name fill filter filter_map find first flat_map flatten floor flush fmt \
            fold for_each from get get_mut get_or_insert get_or_insert_with get_unchecked has_next hash id index \
            init insert insert_str inspect intersection into into_inner into_iter is_absolute is_alphabetic \
            is_char_boundary is_digit is_dir is_empty is_err is_file is_finite is_nan is_none is_none_or is_ok \
            is_ok_and is_positive is_some is_some_and is_sorted is_whitespace iter iter_bytes iter_mut join \
            join_all keys kind last last_mut leading_zeros len lines load lock log map map_err map_or \
            map_or_else map_while max max_by max_by_key metadata min min_by min_by_key mul name ne new next \
            next_back nth ok ok_or ok_or_else open or or_else or_insert parent parse partial_cmp partition path \
            peek poll pop pop_back pop_front position pow push push_back push_front push_str rchunks read \
            read_line read_to_end read_to_string recv reduce remove repeat replace replacen reserve resize \
            retain rev rfind rsplit rsplit_once saturating_add saturating_sub scan seek send set shrink_to_fit \
            signum size_hint skip skip_while sort sort_by sort_by_key sort_unstable spawn splice split split_at \
            split_first split_last split_off split_once split_whitespace splitn sqrt starts_with step_by store \
            strip_prefix strip_suffix sub sum swap swap_remove symlink_metadata take take_while tell then \
            to_ascii_lowercase to_ascii_uppercase to_bits to_le_bytes to_lowercase to_owned to_path_buf to_str \
            to_string to_uppercase to_vec trailing_zeros transpose trim trim_end trim_start truncate try_from \
            try_into try_lock unwrap unwrap_err unwrap_or unwrap_or_default unwrap_or_else unwrap_unchecked \
            unzip update values values_mut wait width windows with with_capacity wrapping_add wrapping_sub write \
            write_all write_str xor zip",
        ..NONE
    },
    Family {
        languages: &["astro", "javascript", "svelte", "tsx", "typescript", "vue"],
        spelling: Spelling::Script,
        plain: Plain::Nothing,
        extensions: &["ts", "tsx", "d.ts", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "astro"],
        index: &["index"],
        hollow: &["src", "dist"],
        roots: &["src", "packages"],
        common_members: "\
            add addEventListener all apply append assign at bind call catch charAt clear clone close concat \
            delete emit end endsWith entries error every exec fill filter finally find findIndex flat flatMap \
            forEach from get has includes indexOf join keys lastIndexOf length log map match name next now of \
            off on once open padStart parse pop push reduce reject remove repeat replace resolve reverse send \
            set shift slice some sort splice split startsWith stringify substring test then toFixed toLowerCase \
            toString toUpperCase trim unshift values warn write",
        ..NONE
    },
    Family {
        languages: &["go"],
        spelling: Spelling::Go,
        plain: Plain::Last,
        scope: Scope::Folder,
        open_types: true,
        folders: true,
        unstated_implementers: Some(
            "Go does not state which types implement an interface: only a SCIP file does (`ixmcp scip make`)",
        ),
        itself: &[],
        above: &[],
        extensions: &["go"],
        roots: &[],
        common_members: "\
            Add Bytes Close Copy Done Err Error Errorf Fatal Fatalf Flush Format Get Len Less Load Lock Log Logf \
            Name Next Print Printf Println Read ReadFrom Reset Run RUnlock Scan Seek Set Size Store String Swap \
            Unlock Unwrap Value Wait Write WriteByte WriteString WriteTo",
        ..NONE
    },
    Family {
        languages: &["java", "kotlin", "scala"],
        spelling: Spelling::Names,
        plain: Plain::Last,
        scope: Scope::Folder,
        implicit_self: true,
        folders: true,
        extensions: &["java", "kt", "kts", "scala"],
        common_members: "\
            accept add addAll append apply charAt clear close collect contains containsKey copy equals filter \
            find flatMap fold forEach format get getClass getKey getMessage getName getOrDefault getValue \
            hasNext hashCode indexOf isEmpty iterator join keySet length let map name next of ordinal println \
            put putAll read remove replace run set size sort split startsWith stream substring test toList \
            toLowerCase toString trim valueOf values write",
        ..NONE
    },
    Family {
        languages: &["csharp"],
        spelling: Spelling::Names,
        implicit_self: true,
        scope: Scope::Program,
        open_types: true,
        above: &["base"],
        extensions: &["cs"],
        common_members: "\
            Add Any Append Clear Close Contains ContainsKey Count Dispose Equals First Format GetHashCode \
            GetType IndexOf Invoke Join Length Name Read Remove Replace Select Split StartsWith Substring \
            ToArray ToList ToString Trim Value Where Write WriteLine",
        ..NONE
    },
    Family {
        languages: &["c", "cpp", "objc"],
        implicit_self: true,
        open_types: true,
        headers: true,
        above: &[],
        itself: &["this"],
        roots: &["include", "src", "lib"],
        common_members: "\
            append at back begin c_str capacity clear close count data emplace emplace_back empty end erase find \
            first flush front get insert join length load lock max min next open pop pop_back push push_back \
            rbegin read release rend reserve reset resize second size str substr swap unlock value wait what \
            write",
        ..NONE
    },
    Family {
        languages: &["ruby"],
        implicit_self: true,
        open_types: true,
        extensions: &["rb"],
        roots: &["lib", "app", "test", "spec"],
        common_members: "\
            [] add all any? call clear close collect count delete dup each each_with_index empty? fetch find \
            first freeze get gsub include? index initialize inject inspect is_a? join key? keys last length map \
            match merge name new nil? open pop push raise read reject replace require respond_to? reverse select \
            send size sort split start_with? strip sub to_a to_h to_i to_s to_sym update values write",
        ..NONE
    },
    Family {
        languages: &["php"],
        spelling: Spelling::Names,
        plain: Plain::Last,
        itself: &["$this", "self", "static"],
        above: &["parent"],
        extensions: &["php"],
        roots: &["src", "lib", "app", "includes"],
        ..NONE
    },
    Family {
        languages: &["lua"],
        spelling: Spelling::Names,
        plain: Plain::Nothing,
        open_types: true,
        extensions: &["lua"],
        index: &["init"],
        roots: &["lua", "src", "lib"],
        ..NONE
    },
    Family {
        languages: &["swift"],
        spelling: Spelling::Names,
        implicit_self: true,
        open_types: true,
        itself: &["self", "Self"],
        extensions: &["swift"],
        folders: true,
        ..NONE
    },
    Family {
        languages: &["elixir", "haskell", "ocaml", "ocaml_interface"],
        spelling: Spelling::Names,
        plain: Plain::Last,
        itself: &["__MODULE__"],
        extensions: &["ex", "exs", "hs", "ml", "mli"],
        ..NONE
    },
    Family { languages: &["dart"], implicit_self: true, extensions: &["dart"], ..NONE },
    Family { languages: &["zig"], plain: Plain::Last, scope: Scope::File, extensions: &["zig"], ..NONE },
    Family { languages: &["shell"], itself: &[], above: &[], extensions: &["sh", "bash"], ..NONE },
    Family { languages: &["julia"], open_types: true, itself: &[], above: &[], extensions: &["jl"], ..NONE },
    Family {
        languages: &["erlang"],
        scope: Scope::File,
        itself: &["?MODULE"],
        above: &[],
        extensions: &["erl", "hrl"],
        roots: &["src", "include", "lib"],
        ..NONE
    },
    Family {
        languages: &["nix"],
        scope: Scope::File,
        itself: &[],
        above: &[],
        extensions: &["nix"],
        index: &["default"],
        ..NONE
    },
    Family { languages: &["powershell"], itself: &["$this"], above: &[], extensions: &["ps1", "psm1"], ..NONE },
    Family {
        languages: &["solidity"],
        scope: Scope::File,
        implicit_self: true,
        extensions: &["sol"],
        roots: &["contracts", "src", "lib"],
        ..NONE
    },
    Family { languages: &["hcl"], scope: Scope::Folder, itself: &[], above: &[], ..NONE },
];

static OTHERS: Family = NONE;

impl Family {
    pub(super) fn for_language(language: &str) -> &'static Self {
        FAMILIES.iter().find(|family| family.languages.contains(&language)).unwrap_or(&OTHERS)
    }

    /// Whether the language's own types have a member of that name.
    pub(super) fn has_common_member(&self, name: &str) -> bool {
        self.common_members.split(' ').any(|member| member == name)
    }

    /// Whether code in `language` can mean what code in `other` defines.
    pub(super) fn sees(&self, language: &str, other: &str) -> bool {
        language == other || self.languages.contains(&other)
    }
}
