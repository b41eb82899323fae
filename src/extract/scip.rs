//! SCIP files: the definitions and references that a language indexer states.
//!
//! Owns the format, from its bytes to plain values. Does not own whether that still fits the files it is about (`update`).
//! Positions stay as they are written: lines from 0, and columns in the units of the document's encoding.

use std::collections::HashMap;

use protobuf::Message;
use scip::types::descriptor::Suffix;
use scip::types::occurrence::Typed_range;
use scip::types::{Descriptor, Document, Index, Occurrence, PositionEncoding, SymbolInformation, SymbolRole};
use serde::{Deserialize, Serialize};

/// Prefix of symbols that only their own document can name.
const LOCAL: &str = "local ";
/// Prefixes of the names of accessors in scip-typescript.
const ACCESSORS: [&str; 2] = ["<get>", "<set>"];
/// Names that indexers give constructors without a name in code: scip-typescript, scip-java, scip-dotnet, scip-php.
const CONSTRUCTORS: &[&str] = &["<constructor>", "<init>", ".ctor", "__construct"];

/// A SCIP file.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct ScipIndex {
    /// The indexer, with its version.
    pub tool: String,
    /// The root of the project, as a path or address; empty if it is not stated.
    pub root: String,
    pub documents: Vec<ScipDocument>,
    pub symbols: Vec<ScipSymbol>,
    /// Symbol, related symbol, and how: [`REFERENCE`], [`IMPLEMENTATION`], [`TYPE_DEFINITION`], [`DEFINITION`].
    pub relationships: Vec<(u32, u32, u8)>,
}

pub const REFERENCE: u8 = 1;
pub const IMPLEMENTATION: u8 = 2;
pub const TYPE_DEFINITION: u8 = 4;
pub const DEFINITION: u8 = 8;

#[derive(Debug, Deserialize, Serialize)]
pub struct ScipDocument {
    /// Relative to the root of the project that was indexed, as it is written.
    pub path: String,
    pub unit: Unit,
    /// BLAKE3 of its text, if that is in the file.
    pub text: Option<String>,
    /// Start line, start column, end line, end column, symbol, roles.
    pub occurrences: Vec<(u32, u32, u32, u32, u32, u32)>,
}

/// Unit in which columns are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Unit {
    Utf8,
    Utf16,
    CodePoint,
}

#[derive(Debug, Deserialize, Serialize)]
pub struct ScipSymbol {
    pub symbol: String,
    /// The last part of it, if it is an identifier.
    pub name: String,
    /// The document of a local symbol.
    pub document: Option<u32>,
}

/// Reads a SCIP file. The error says what is wrong with it.
pub fn read(bytes: &[u8]) -> Result<ScipIndex, String> {
    let index = Index::parse_from_bytes(bytes).map_err(|error| format!("it is not a SCIP file: {error}"))?;
    let tool = &index.metadata.tool_info;
    let mut read = ScipIndex {
        tool: format!("{} {}", tool.name, tool.version).trim().to_owned(),
        root: index.metadata.project_root.clone(),
        ..ScipIndex::default()
    };
    let mut symbols = Symbols::default();
    for document in &index.documents {
        read.add(document, &mut symbols);
    }
    for information in &index.external_symbols {
        relate(information, None, &mut symbols, &mut read.relationships);
    }
    read.relationships.sort_unstable();
    read.relationships.dedup();
    read.symbols = symbols.all;
    Ok(read)
}

impl ScipIndex {
    fn add(&mut self, document: &Document, symbols: &mut Symbols) {
        let Ok(at) = u32::try_from(self.documents.len()) else { return };
        let range = |occurrence: &Occurrence, symbols: &mut Symbols| {
            let (line, column, end_line, end_column) = range_of(occurrence)?;
            let is_ordered = (end_line, end_column) >= (line, column);
            if !is_ordered || occurrence.symbol.is_empty() {
                return None;
            }
            let roles = u32::try_from(occurrence.symbol_roles).unwrap_or(0);
            Some((line, column, end_line, end_column, symbols.number(&occurrence.symbol, at), roles))
        };
        let mut occurrences: Vec<_> =
            document.occurrences.iter().filter_map(|occurrence| range(occurrence, symbols)).collect();
        occurrences.sort_unstable();
        occurrences.dedup();
        for information in &document.symbols {
            relate(information, Some(at), symbols, &mut self.relationships);
        }
        self.documents.push(ScipDocument {
            path: document.relative_path.clone(),
            unit: unit_of(document, &self.tool),
            text: (!document.text.is_empty()).then(|| blake3::hash(document.text.as_bytes()).to_hex().to_string()),
            occurrences,
        });
    }
}

/// The range of an occurrence, from 0: by its typed range if it has one, else by the other.
fn range_of(occurrence: &Occurrence) -> Option<(u32, u32, u32, u32)> {
    let [line, column, end_line, end_column] = match (&occurrence.typed_range, occurrence.range.as_slice()) {
        (Some(Typed_range::SingleLineRange(one)), _) => [one.line, one.start_character, one.line, one.end_character],
        (Some(Typed_range::MultiLineRange(several)), _) => {
            [several.start_line, several.start_character, several.end_line, several.end_character]
        }
        (_, &[line, column, end_column]) => [line, column, line, end_column],
        (_, &[line, column, end_line, end_column]) => [line, column, end_line, end_column],
        _ => return None,
    };
    let number = |one: i32| u32::try_from(one).ok();
    Some((number(line)?, number(column)?, number(end_line)?, number(end_column)?))
}

/// Where the encoding is not stated, it is that of the language in which the indexer is written.
fn unit_of(document: &Document, tool: &str) -> Unit {
    match document.position_encoding.enum_value_or_default() {
        PositionEncoding::UTF8CodeUnitOffsetFromLineStart => Unit::Utf8,
        PositionEncoding::UTF16CodeUnitOffsetFromLineStart => Unit::Utf16,
        PositionEncoding::UTF32CodeUnitOffsetFromLineStart => Unit::CodePoint,
        PositionEncoding::UnspecifiedPositionEncoding
            if ["rust-analyzer", "scip-go", "scip-clang"].iter().any(|name| tool.starts_with(name)) =>
        {
            Unit::Utf8
        }
        PositionEncoding::UnspecifiedPositionEncoding => Unit::Utf16,
    }
}

fn relate(
    information: &SymbolInformation,
    document: Option<u32>,
    symbols: &mut Symbols,
    related: &mut Vec<(u32, u32, u8)>,
) {
    let document = document.unwrap_or(u32::MAX);
    for one in &information.relationships {
        let kinds = [
            (one.is_reference, REFERENCE),
            (one.is_implementation, IMPLEMENTATION),
            (one.is_type_definition, TYPE_DEFINITION),
            (one.is_definition, DEFINITION),
        ];
        let kinds = kinds.iter().filter(|(holds, _)| *holds).fold(0, |all, (_, kind)| all | kind);
        if kinds != 0 && !information.symbol.is_empty() && !one.symbol.is_empty() {
            related.push((symbols.number(&information.symbol, document), symbols.number(&one.symbol, document), kinds));
        }
    }
}

/// Symbols by their texts, and local ones by their documents, too.
#[derive(Default)]
struct Symbols {
    all: Vec<ScipSymbol>,
    numbers: HashMap<(String, Option<u32>), u32>,
}

impl Symbols {
    fn number(&mut self, symbol: &str, document: u32) -> u32 {
        let document = symbol.starts_with(LOCAL).then_some(document);
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        *self.numbers.entry((symbol.to_owned(), document)).or_insert_with(|| {
            self.all.push(ScipSymbol { symbol: symbol.to_owned(), name: name_of(symbol), document });
            next
        })
    }
}

/// The name that code gives a symbol; empty if it has none, such as a file or a constructor
/// (findings/scip-typescript-constructor.sh).
fn name_of(symbol: &str) -> String {
    if symbol.starts_with(LOCAL) {
        return String::new();
    }
    let name = scip::symbol::parse_symbol(symbol).ok().and_then(|symbol| Some(symbol.descriptors.last()?.name.clone()));
    let name = name.map(|name| ACCESSORS.iter().find_map(|word| name.strip_prefix(word)).unwrap_or(&name).to_owned());
    name.filter(|name| is_identifier(name)).unwrap_or_default()
}

/// The symbol of the type that a constructor makes; `None` for any other symbol. A constructor is called by the name of
/// its type.
pub fn constructed(symbol: &str) -> Option<&str> {
    let (of_type, _) = symbol.rsplit_once('#').filter(|_| !symbol.starts_with(LOCAL))?;
    let descriptors = scip::symbol::parse_symbol(symbol).ok()?.descriptors;
    let [.., outer, last] = descriptors.as_slice() else { return None };
    let is_constructor = CONSTRUCTORS.contains(&last.name.as_str()) || last.name == outer.name;
    let is_of_type = last.suffix == Suffix::Method.into() && outer.suffix == Suffix::Type.into();
    (is_of_type && is_constructor).then(|| &symbol[..=of_type.len()])
}

/// The symbol of the setter of a getter's property, or the other way round; `None` for any other symbol.
pub fn counterpart(symbol: &str) -> Option<String> {
    let [get, set] = ACCESSORS;
    let (at, other) =
        [(symbol.rfind(get), set), (symbol.rfind(set), get)].into_iter().find_map(|(at, other)| Some((at?, other)))?;
    Some(format!("{}{other}{}", &symbol[..at], &symbol[at + other.len()..]))
}

/// A symbol of an npm package: `npm PACKAGE VERSION FOLDER/FILE/DESCRIPTORS`.
pub struct PackageSymbol {
    /// Empty if it is not stated.
    pub package: String,
    descriptors: Vec<Descriptor>,
}

impl PackageSymbol {
    pub fn parse(symbol: &str) -> Option<Self> {
        let symbol = (!symbol.starts_with(LOCAL)).then(|| scip::symbol::parse_symbol(symbol).ok())??;
        let package = symbol.package.into_option().filter(|package| package.manager == "npm")?;
        Some(Self { package: package.name, descriptors: symbol.descriptors })
    }

    /// Each way to read it as the path of a file and what is in that file.
    pub fn splits(&self) -> impl Iterator<Item = (String, String)> {
        let is_namespace = |one: &&Descriptor| one.suffix == Suffix::Namespace.into();
        let namespaces = self.descriptors.iter().take_while(is_namespace).count();
        let is_file = |at: &usize| self.descriptors[*at].name.contains('.');
        (0..namespaces).filter(is_file).map(|at| {
            let (path, rest) = self.descriptors.split_at(at + 1);
            let path: Vec<&str> = path.iter().map(|one| one.name.as_str()).collect();
            let shown = |one: &Descriptor| format!("{}\n{}\n{}\n", one.name, one.disambiguator, one.suffix.value());
            (path.join("/"), rest.iter().map(shown).collect())
        })
    }
}

/// Whether a character can be part of a name in code.
pub fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// Whether a text is how code gives a symbol its name. Indexers number members of types and objects that have no name of their
/// own: `email0` and `email1` are both written `email` (findings/scip-typescript-property-names.sh).
pub fn is_name(name: &str, text: &str) -> bool {
    let is_number = |rest: &str| rest.chars().all(|c| c.is_ascii_digit());
    !text.is_empty() && name.strip_prefix(text).is_some_and(is_number)
}

/// Whether a text can be a name in code.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_part) && !text.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether the roles are those of a definition.
pub fn is_definition(roles: u32) -> bool {
    roles & SymbolRole::Definition as u32 != 0
}

/// Role of an occurrence, in the words of references.
pub fn role(roles: u32) -> &'static str {
    let has = |role: SymbolRole| roles & role as u32 != 0;
    match () {
        () if has(SymbolRole::Definition) => "definition",
        () if has(SymbolRole::Import) => "import",
        () if has(SymbolRole::WriteAccess) => "write",
        () if has(SymbolRole::ReadAccess) => "read",
        () => "use",
    }
}

impl Unit {
    /// The code points of a line before a column; `None` if the line is shorter, or the column is within a character.
    pub fn code_points(self, line: &str, column: u32) -> Option<usize> {
        let column = column as usize;
        match self {
            Self::Utf8 => line.get(..column).map(|before| before.chars().count()),
            Self::CodePoint => (column <= line.chars().count()).then_some(column),
            Self::Utf16 => {
                let mut units = 0;
                for (at, character) in line.chars().enumerate() {
                    if units >= column {
                        return (units == column).then_some(at);
                    }
                    units += character.len_utf16();
                }
                (units == column).then(|| line.chars().count())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_the_unit_of_the_document() {
        let line = "let größe = \"😀\"; x";
        for (unit, columns) in [(Unit::Utf8, [4, 6, 20]), (Unit::Utf16, [4, 6, 16]), (Unit::CodePoint, [4, 6, 15])] {
            let points = columns.map(|column| unit.code_points(line, column));
            assert_eq!(points, [Some(4), Some(6), Some(15)], "{unit:?}");
            assert_eq!(unit.code_points(line, 100), None);
        }
        assert_eq!(
            (Unit::Utf8.code_points(line, 7), Unit::Utf16.code_points(line, 14)),
            (None, None),
            "within a character"
        );
    }

    #[test]
    fn a_symbol_is_called_by_its_last_part() {
        for (symbol, name) in [
            ("scip-typescript npm app 1.0.0 src/`user.service.ts`/UserService#find().", "find"),
            ("scip-typescript npm app 1.0.0 src/`user.service.ts`/UserService#`<constructor>`().", ""),
            ("scip-typescript npm app 1.0.0 src/`user.service.ts`/UserService#`<get>all`().", "all"),
            ("scip-typescript npm app 1.0.0 src/`user.service.ts`/", ""),
            ("local 4", ""),
            ("not a symbol at all", ""),
        ] {
            assert_eq!(name_of(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn constructors_and_accessors_belong_to_others() {
        for (symbol, of) in [
            ("scip-typescript npm a 1 `a.ts`/C#`<constructor>`().", Some("scip-typescript npm a 1 `a.ts`/C#")),
            ("semanticdb maven . . a/C#`<init>`(+1).", Some("semanticdb maven . . a/C#")),
            ("scip-dotnet nuget . . N/C#`.ctor`().", Some("scip-dotnet nuget . . N/C#")),
            ("cxx . . $ n/C#C(9b79).", Some("cxx . . $ n/C#")),
            ("scip-typescript npm a 1 `a.ts`/C#run().", None),
            ("scip-typescript npm a 1 `a.ts`/C#", None),
            ("local 4", None),
        ] {
            assert_eq!(constructed(symbol), of, "{symbol}");
        }
        let (get, set) = ("t npm a 1 `a.ts`/C#`<get>all`().", "t npm a 1 `a.ts`/C#`<set>all`().");
        assert_eq!((counterpart(get).as_deref(), counterpart(set).as_deref()), (Some(set), Some(get)));
        assert_eq!(counterpart("t npm a 1 `a.ts`/C#all()."), None);
    }

    #[test]
    fn numbered_symbols_are_written_without_their_numbers() {
        for (name, text, is_same) in [
            ("email", "email", true),
            ("email12", "email", true),
            ("email12", "email12", true),
            ("f10", "f1", true),
            ("email2b", "email", false),
            ("email", "e", false),
            ("12", "", false),
            ("", "", false),
        ] {
            assert_eq!(is_name(name, text), is_same, "{name} {text}");
        }
    }

    #[test]
    fn malformed_bytes_are_an_error() {
        assert!(read(b"\xff\xff\xff\xff").is_err());
        assert!(read(b"").is_ok_and(|empty| empty.documents.is_empty()));
    }
}
