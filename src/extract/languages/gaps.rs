//! Valid syntax that the grammars do not know, by language.
//!
//! Owns the patterns and what is written instead. `extract::gaps` applies them, one after another, to texts that did not
//! parse. Bytes above the ASCII ones count as letters of no kind. findings/regex-automata-lost-match.sh says which release
//! applies such patterns.

use crate::extract::gaps::{Filling, Gap};

const fn gap(pattern: &'static str, words: &'static str) -> Gap {
    Gap { pattern, filling: Filling::Words(words) }
}

/// Macros around declarations, on lines of their own.
const BRACKETS: Gap = gap(r"^([A-Z_][A-Z0-9_]*(?:BEGIN|END)[A-Z0-9_]*|(?:BEGIN|END)[A-Z0-9_]*)[ \t\r]*$", "");

const CONDITIONAL: Gap = Gap { pattern: r"^[ \t]*#[ \t]*if", filling: Filling::Conditional };

/// Attributes.
const ATTRIBUTE: Gap = gap(r"(\[\[[^\[\]\n]*\]\]|\b__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\))", "");

/// Macros for attributes after the name of an enumerator.
const ANNOTATED: Gap = gap(
    r"(?:^|[{,])[ \t]*[A-Za-z_]\w*[ \t]+((?:[A-Z][A-Z0-9_]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)[ \t]*)+)(?:,|\s*\}|=[^=;\n]*(?:[,}]|$))",
    "",
);

/// A macro for an attribute.
macro_rules! attribute {
    () => {
        r"(?:_*[A-Z][A-Z0-9_]*|__\w+|_[A-Z]\w*)"
    };
}

/// Arguments of a macro.
macro_rules! arguments {
    () => {
        r"(?:[ \t]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))"
    };
}

/// A type up to the name of its variable. `unsigned` must have a word after it: otherwise the type may continue.
macro_rules! c_type {
    () => {
        r"(?:(?:static|extern|const|volatile|unsigned|signed|long|short)[ \t]+)*(?:(?:struct|union|enum)[ \t]+\w+|int|char|float|double|bool|void|[a-z]+[A-Z_0-9]\w*|[A-Z]\w*[a-z]\w*)[ \t*]+"
    };
}

/// Spaces after a macro without a value, for which the grammar takes the next line.
const EMPTY: Gap = gap(r"^[ \t]*#[ \t]*define[ \t]+\w+(?:\([^()\n]*\))?([ \t]+(?:\\\r?\n[ \t]*)*)\r?$", ";");

pub(super) static C: [Gap; 34] = [
    CONDITIONAL,
    EXPORTED,
    // Enumerations as Apple's frameworks declare them: `typedef NS_ENUM(NSInteger, Level) { … };`
    gap(
        r"^[ \t]*(typedef\s+(?:NS|CF)_(?:CLOSED_|ERROR_)?(?:ENUM|OPTIONS)\s*\(\s*[\w \t]+,\s*)[A-Za-z_]\w*\s*\)",
        "enum",
    ),
    gap(r"^[ \t]*enum[ \t]{12,}\s*[A-Za-z_]\w*\s*(\))[^;{]*\{", ""),
    // Their macros after the name of a type.
    gap(
        r"^typedef[ \t][^;{}()\n]*[ \t*][A-Za-z_]\w*((?:[ \t]+(?:NS|CF)_(?:AVAILABLE|BRIDGED|DEPRECATED|EXTENSIBLE|REFINED|STRING|SWIFT|TYPED)\w*(?:\([^;\n]*\))?)+)[ \t]*;",
        "",
    ),
    // Attributes of a type, as macros.
    gap(r"\b(?:struct|union|enum)[ \t]+((?:[A-Za-z_]\w*(?:\([^()\n]*\))?[ \t]+)+)[A-Za-z_]\w*\s*\{", ""),
    // Comments in the text of macros.
    gap(r"(/\*[^*\n]*(?:\*+[^*/\n][^*\n]*)*\*+/)[ \t]*\\\r?$", ""),
    gap(r"^[ \t]*#[ \t]*define[ \t][^\n]*?(/\*[^*\n]*(?:\*+[^*/\n][^*\n]*)*\*+/)[ \t]*[^\s\\/]", ""),
    BRACKETS,
    gap(r"^([A-Z][A-Z0-9_]*(?:\([^()\n]*\))?\s+)@(?:interface|protocol)", ""),
    // Parameters as old headers write them: `int inflate OF((z_streamp strm, int flush));`
    gap(r"^[ \t]*[A-Za-z_][\w \t*]*[ \t*](?:\w+|\([\w \t]*\*[ \t]*\w+\))[ \t]+([A-Z_][A-Z0-9_]*[ \t]*\()\(", ""),
    gap(
        r"^[ \t]*[A-Za-z_][\w \t*]*[ \t*](?:\w+|\([\w \t]*\*[ \t]*\w+\))[ \t]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(\))\s*;",
        "",
    ),
    // Macros after parameters, and between a type and a name.
    gap(
        concat!(
            r"^(?:[A-Za-su-z_]|t[A-Za-xz0-9_])\w*(?:\([^()\n]*\))?[\s*][^=;{}#]*?\)\s*((?:",
            attribute!(),
            arguments!(),
            r"?\s*)+)(?:/\*[^*]*\*/\s*)?[;{]"
        ),
        "",
    ),
    gap(r"^[A-Za-z_][\w \t*]*[ \t*]([a-z_]\w*\([^()\n]*\)[ \t]+)\**_?[a-z]\w*[ \t]*\(", ""),
    gap(
        r"^(?:[A-Z][A-Z0-9_]*[ \t]+)?[A-Za-z_]\w*[ \t*]+([A-Z][A-Z0-9_]*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)\s+)\**[a-z_]\w*[ \t]*\(",
        "",
    ),
    gap(r"^typedef[ \t][^;{}()\n]*\*[ \t]*([A-Z][A-Z0-9_]*[ \t]+)\w+[ \t]*;", ""),
    gap(
        r"^[ \t]*(?:[A-Z][A-Z0-9_]*[ \t]+)?(?:(?:static|extern|inline|const|local|struct|enum|unsigned)[ \t]+)*(?:int|void|char|long|short|float|double|bool|unsigned|[A-Z]\w*|[a-z]+[A-Z_0-9]\w*)[ \t]*(?:\*[ \t]*)*[ \t*]([A-Z][A-Z0-9_]*[ \t]+)[A-Za-z_]\w*[ \t]*(?:OF[ \t]*)?\(",
        "",
    ),
    gap(r"\(([A-Z][A-Z0-9_]*[ \t]*)\*+[ \t]*\w+[ \t]*\)[ \t]*(?:OF[ \t]*)?\(", ""),
    // Around the name of a variable, and after the body of a type.
    gap(concat!("^", c_type!(), "(", attribute!(), arguments!(), r"?[ \t]+)\**[A-Za-z_]\w*[ \t]*[\[;=,]"), ""),
    gap(concat!("^", c_type!(), r"[A-Za-z]\w*(?:\[[^\[\]\n]*\])*((?:[ \t]+__\w+)+)[ \t]*[;=,]"), ""),
    gap(
        concat!(
            r"(?:^|[{;])[ \t]*",
            c_type!(),
            r"[a-z]\w*(?:\[[^\[\]\n]*\])*((?:[ \t]+",
            attribute!(),
            arguments!(),
            r")+)[ \t]*[;=,]"
        ),
        "",
    ),
    gap(concat!(r"\}[ \t]*(?:__\w+[ \t]+)*((?:", attribute!(), arguments!(), r"[ \t]*)+);"), ""),
    // Macros that define a variable. Those for per-processor variables name its type first.
    gap(r"^(?:static[ \t]+)?((?:DEFINE|DECLARE)_PER_CPU\w*\([^(),;]*,)[ \t]*\w+(?:\[[^\[\]]*\])*\)", "int"),
    gap(r"^(?:static[ \t]+)?int[ \t]{14,}\w+(?:\[[^\[\]]*\])*(\))", ""),
    gap(r"^(static[ \t]+)[A-Z][A-Z0-9_]*\([^(),;]*,[^();]*\)[ \t]*;", ""),
    // Macros before a declaration.
    gap(
        r"^((?:[A-Z][A-Z0-9_]*|local)\s+)(?:extern|static|inline|const|struct|enum|union|unsigned|signed|int|void|char|long|short|float|double|bool|size_t)\b",
        "",
    ),
    gap(
        r"^[ \t]*((?:[A-Z][A-Z0-9_]*|local)(?:[ \t]+|[ \t]*\n))[A-Za-z_]\w*[ \t]*(?:\*[ \t]*)*(?:\([*\s]*\w+\)|[ \t*]\w+)[ \t]*\(",
        "",
    ),
    ATTRIBUTE,
    ANNOTATED,
    // The type behind an enumeration.
    gap(r"\benum\b[ \t]*\w*[ \t]*(:[\w \t]*\w)\s*\{", ""),
    // C11 and C23.
    gap(r"\b((?:_Atomic|_BitInt)\s*\((?:[^()\n]|\([^()\n]*\))*\))", "int"),
    gap(r"\b(typeof(?:_unqual)?\s*\((?:[^()\n]|\([^()\n]*\))*\))\s*[\w*]", "int"),
    gap(r"(?:^|[;{(]|\b(?:static|const|constexpr|register))\s*(auto)\s+\w+\s*=", "int"),
    EMPTY,
];

/// Macros before a declaration.
macro_rules! cpp_macros {
    () => {
        r"^[ \t]*(?:template\s*<[^{};()]*>\s*)?(?:[a-z]+[ \t]+)*?((?:(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|_+[A-Z][A-Z0-9_]{2,})(?:\((?:[^()\n]|\([^()\n]*\))*\))?\s+)+)"
    };
}

/// A macro between the storage and the type of a declaration, which may continue after the line.
const EXPORTED: Gap = gap(
    r"^(?:extern|static|inline)[ \t]+([A-Z][A-Z0-9_]*[ \t]+)[A-Za-z_]\w*[ \t]*(?:[*&][ \t]*|\s)[*& \t\n]*\w+\s*\(",
    "",
);

pub(super) static CPP: [Gap; 25] = [
    CONDITIONAL,
    EXPORTED,
    BRACKETS,
    // Annotations for the analysis of thread safety.
    gap(
        r"[\w)>\]][ \t\n]+((?:[A-Z0-9_]*(?:LOCK|GUARDED|REQUIRES|EXCLUDES|ACQUIRE|RELEASE|THREAD|LIFETIME)[A-Z0-9_]*(?:\([^()\n]*\))?[ \t\n]*)+)[;{=]",
        "",
    ),
    // Macros after the parameters of a function.
    gap(
        concat!(
            r"(?:^|[{};])[ \t]*(?:[A-Za-z_~][\w:<>,*& \t~]*|(?:[A-Za-z_][\w:<>,*& \t]*[ \t*&:])?operator(?:[^\w\s(]{1,3}|\(\))[ \t]*)\((?:[^(){};#]|\((?:[^(){};#]|\([^(){};]*\))*\))*\)(?:[ \t]*\n[ \t])?[ \t]*(?:const\s+)?((?:(?:_*[A-Z][A-Z0-9_]*|(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|_+[A-Z][A-Z0-9_]{2,})",
            arguments!(),
            r"|__\w+(?:[ \t]*\(\([^()]*\)\))?)\s*)+)(?:[;{:]|=[ \t]*(?:0|default|delete)\b)"
        ),
        "",
    ),
    // Macros before a declaration, a constructor, and a type in a namespace.
    gap(
        concat!(
            cpp_macros!(),
            r"(?:(?:template|class|struct|enum|union|static|inline|constexpr|explicit|virtual|friend|auto|void|const|extern|typedef|using|namespace|typename|unsigned|bool|int|char|operator)\b|(?:[A-Za-z_]\w*(?:<[^;{}()]*>)?::)*~)"
        ),
        "",
    ),
    gap(
        concat!(
            cpp_macros!(),
            r"(?:[A-Za-z_]\w*(?:<[^;{}()]*>)?\s*::\s*)*[A-Za-z_]\w*\s*\((?:[^(){};]|\((?:[^(){};]|\([^(){};]*\))*\))*\)\s*(?:noexcept\s*)?:\s*[A-Za-z_]"
        ),
        "",
    ),
    gap(
        concat!(
            cpp_macros!(),
            r"(?:\w*[a-z]\w*|[A-Z][A-Z0-9]*)(?:<[^;{}()]*>)?[\s*&]+(?:[A-Za-z_]\w*|operator[^\w\s(]{1,3})[ \t]*\("
        ),
        "",
    ),
    gap(concat!(r"^[ \t]*((?:_+[A-Z][A-Z0-9_]{2,}", arguments!(), r"?\s+)+)[A-Za-z_]\w*[ \t]*\("), ""),
    gap(concat!(r"\bnamespace[ \t]+\w+[ \t]+([A-Z_][A-Z0-9_]*", arguments!(), r"?)\s*\{"), ""),
    gap(r"^[ \t]*([A-Z][A-Z0-9]{2,}\s+)(?:template|typename|explicit|virtual|friend|constexpr)\b", ""),
    // Before the members of a class.
    gap(r"[{;)]\s*([A-Z][A-Z0-9]*_[A-Z0-9_]*)\s+(?:public|protected|private)(?:\s+\w+)?\s*:", ""),
    // Statements of Qt in a class.
    gap(
        r"^[ \t]*(Q_(?:CLASSINFO|DECLARE_\w+|DISABLE_\w+|ENUMS?|FLAGS?|GADGET|INTERFACES|INVOKABLE|OBJECT|PROPERTY|REVISION)\b(?:[ \t]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?)",
        "",
    ),
    // Between `class` and its name.
    gap(
        r"\b(?:class|struct|union)[ \t]+((?:[A-Z][A-Z0-9]*_[A-Z0-9_]*(?:\([^()\n]*\))?[ \t\n]+)+)(?:[A-Za-eg-z_]\w*|f[A-Za-hj-z0-9_]\w*|fi[A-Za-mo-z0-9_]\w*)\b[^;{}()=]*\{",
        "",
    ),
    gap(
        concat!(
            cpp_macros!(),
            r"(?:[A-Za-z_]\w*::)+[A-Za-z_]\w*(?:<[^;{}()]*>)?[ \t]*[ \t*&][ \t*&]*[A-Za-z_][\w:]*\s*\("
        ),
        "",
    ),
    // A macro with the values of an array.
    gap(r"^[ \t]*(?:static|extern|const)\b[^;{}=()\n]*\[[^\[\]\n]*\][ \t]+([A-Z][A-Z0-9]*_[A-Z0-9_]*)[ \t]*;", ""),
    // Macros as access specifiers, and what Qt adds to those of the language.
    gap(r"^[ \t]*((?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|signals)[ \t]*:)[ \t\r]*(?://[^\n]*)?$", ""),
    gap(
        r"^[ \t]*(?:public|protected|private)[ \t]+((?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|slots)[ \t]*):[ \t\r]*(?://[^\n]*)?$",
        "",
    ),
    // The class of a pointer to a member.
    gap(r"[\w>][ \t]+((?:[A-Za-z_]\w*(?:<[^<>;{}()]*>)?::)+)\*", ""),
    // Modules.
    gap(r#"^[ \t]*((?:export\s+)?(?:module|import)\b(?:[ \t]*[\w.:<>"/]+)*[ \t]*;)"#, ""),
    Gap { pattern: r"^[ \t]*export\s*\{", filling: Filling::Block },
    gap(r"^[ \t]*(export\s)\s*\w", ""),
    ATTRIBUTE,
    ANNOTATED,
    EMPTY,
];

pub(super) static CSHARP: [Gap; 8] = [
    CONDITIONAL,
    // The directives that are left: without them, a list that continues in a branch is complete.
    gap(r"^[ \t]*#[ \t]*(?:if|elif|else|endif|region|endregion)[^\n]*", ""),
    Gap {
        pattern: r"(?:^|[{};])[ \t]*(extension\s*(?:<[^{};()]*>)?\s*\([^{};]*\)[^{};()]*\{)",
        filling: Filling::Block,
    },
    gap(r"\b(ref\s+)partial\s+struct\b", ""),
    // findings/csharp-conditional-assignment.sh
    gap(r"(\?)(?:\.\w+|\[[^\[\]\n]*\])(?:\??\.\w+|\[[^\[\]\n]*\])*\s*(?:\?\?|<<|>>>?|[-+*/%&|^])?=[^=>]", ""),
    gap(r"\boperator\s+(?:checked\s+)?([-+*/%&|^]=)\s*\(", "=="),
    gap(r"\boperator\s+(?:checked\s+)?((?:<<|>>)=)\s*\(", ">>>"),
    gap(r"\boperator\s+(?:checked\s+)?>>>(=)\s*\(", ""),
];

pub(super) static GO: [Gap; 1] = [
    // Type parameters of methods.
    gap(r"^func\s*\([^()\n]*\)\s*\w+(\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])\s*\(", ""),
];

pub(super) static JULIA: [Gap; 2] = [
    gap(r"^[ \t]+(const)\s+\w+[ \t]*(?:::[^=\n]*)?(?:=[^\n]*)?$", ""),
    // Fields on one line: without a value, they are no constants.
    gap(r"(?:\bstruct[ \t]+\S+[ \t]|;)[ \t]*(const)[ \t]+\w+[ \t]*(?:::[^=;\n]*)?(?:;|[ \t]end\b)", ""),
];

pub(super) static KOTLIN: [Gap; 11] = [
    // A constructor with annotations and modifiers on a line of its own.
    gap(
        r"\bclass\s+\w+[ \t]*(?:<[^(){};]*>)?[ \t]*\n\s*((?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s+)+)(?:public|internal|private|protected)\s+constructor\b",
        "",
    ),
    gap(r"^[ \t]*(?:@[\w.:]+(?:\([^()\n]*\))?\s+)*(context\s*\((?:[^()]|\([^()]*\))*\))\s*[@a-z]", ""),
    // Guards.
    gap(r"(?:^|[{;])[ \t]*(?:!?(?:is|in)\s+[^\n{};]*?|else|[\w.]+)[ \t]+(if\b[^\n{};]*?)->", ""),
    // A receiver in parentheses.
    gap(r"\b(?:fun|va[lr])\s+(?:<[^<>(){}=\n]*>\s*)?(\((?:[^()\n]|\([^()\n]*\))*\)\??\.)[A-Za-z_`]", ""),
    // An accessor on the line of its variable.
    gap(
        r"\b(?:va[lr]|[gs]et)\b[^\n;{}]*(;)[ \t]*(?:@[\w.:]+[ \t]+)?(?:(?:private|protected|internal|public)[ \t]+[gs]et\b|[gs]et[ \t]*(?:[;}\r\n]|//)|get\(\)|set\(\w+\)[ \t]*[={])",
        "\n",
    ),
    // A backing field of its own type.
    gap(r"^[ \t]+(?:[a-z]+[ \t]+)*va[lr]\s[^=\n{}]*\n[ \t]*(field[ \t]*(?::[^=\n]*)?)=", ""),
    // Calls that look like accessors of the variable before them.
    gap(r"^[ \t]+(get)\([^)\s]", "got"),
    gap(r"^[ \t]+(set)\([^(),{}\n]*(?:\([^()\n]*\)[^(),{}\n]*)*,[ \t]*[^\s)]", "sat"),
    // A statement may end with its block.
    gap(r"\b(?:fun|va[lr])\s[^\n{}=;]*=[ \t][^\n{};]*[^\s{};]([ \t])\}", ";"),
    gap(r"\bfun\s+[\w.<>]+\s*\([^(){}\n]*\)(?:[ \t]*:[ \t]*[\w.<>?, ]*[\w>?])?([ \t])\}", ";"),
    gap(r"=[ \t][^\n{};]*[^\s{};]([ \t])\}[ \t]*[,;]?[ \t]*$", ";"),
];

pub(super) static POWERSHELL: [Gap; 3] = [
    gap(r"(?i)\benum\s+\w+\s*(:\s*\w+)\s*\{", ""),
    gap(r"\)\s*(:\s*base\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))\s*\{", ""),
    gap(r"\$\w+\s*=\s*(\{\s*\})", "0"),
];

pub(super) static SHELL: [Gap; 1] = [Gap {
    pattern: r#"(<<-?[ \t]*["'\\]?\w+["']?)[^\n]*\|[ \t]*(?:while|until|for|if|case|\{|\()"#,
    filling: Filling::HereDocument,
}];

/// The alias of a trait, as a trait.
pub(super) static RUST: [Gap; 1] =
    [gap(r"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?trait\s+\w+\s*(?:<[^{};=]*>\s*)?(=[^{};=]*;)", "{}")];

/// A space in a name as T-SQL quotes it.
const SPACE: Gap = gap(r"(?:^|[\s.(,])\[[A-Za-z_]\w*([ -])[^\[\]\n]*\]", "_");

pub(super) static SQL: [Gap; 11] = [
    // What defines no symbol.
    gap(
        r"(?i)^[ \t]*((?:CREATE|ALTER)\s+(?:OPERATOR\s+(?:CLASS|FAMILY)|ACCESS\s+METHOD|PUBLICATION|SUBSCRIPTION)\s[^;]*;)",
        "",
    ),
    // Constraints that exclude, and where a table is stored.
    gap(
        r"(?i)(,\s*(?:CONSTRAINT\s+\w+\s+)?EXCLUDE\s+(?:USING\s+\w+\s*)?\((?:[^()]|\([^()]*\))*\)(?:\s*WHERE\s*\((?:[^()]|\([^()]*\))*\))?)",
        "",
    ),
    gap(
        r"(?i)\)\s*((?:SERVER\s+\w+\s*(?:OPTIONS\s*\((?:[^()]|\([^()]*\))*\))?|TABLESPACE\s+\w+|WITH\s*\([^()]*\)|ON\s+COMMIT\s+[A-Z ]+|WITHOUT\s+OIDS)\s*)+;",
        "",
    ),
    // Names as T-SQL quotes them, with up to three spaces.
    SPACE,
    SPACE,
    SPACE,
    gap(r"(?:^|[\s.(,])(\[)[A-Za-z_]\w*\]", ""),
    gap(r"[\s.(,][ \t]*[A-Za-z_]\w*(\])", ""),
    gap(r"(?i)^[ \t]*CREATE\s+(VIRTUAL\s+)TABLE\b", ""),
    gap(r"(?i)^[ \t]*CREATE\s+TABLE\s+[^;()]*?\b(USING\s+\w+\s*(?:\([^;]*\))?)\s*;", ""),
    gap(
        r"(?i)^[ \t]*(ALTER\s+TABLE\s+[^;]*?\b(?:ENABLE|DISABLE|FORCE)\s+(?:ROW\s+LEVEL\s+SECURITY|(?:ALWAYS\s+|REPLICA\s+)?(?:TRIGGER|RULE)\s+\w+)\s*;)",
        "",
    ),
];

pub(super) static SWIFT: [Gap; 1] = [
    // Operators for ranges.
    gap(r"\bfunc\s+(\.\.[.<])\s*[(<]", "+++"),
];

/// The type of a module's export, as an argument.
const IMPORTED: Gap = gap(r#"[<|&:,(]\s*((?:typeof\s+)?import\(\s*(?:"[^"\n]*"|'[^'\n]*')\s*\)\.)\w"#, "");

pub(super) static TYPESCRIPT: [Gap; 9] = [
    IMPORTED,
    gap(r"\bexport\s+default\s+(abstract\s+)class\s*(?:[{<]|extends\b|implements\b)", ""),
    gap(r#"\b(?:static|abstract|override)[ \t]+(accessor[ \t]+)[A-Za-z_$#"'\[]"#, ""),
    // Escapes in the type of a template: findings/tree-sitter-typescript-template-escape.sh
    gap(r"(?:^|[^\\])(\\[`$])", ""),
    // A resource that is closed at the end of its block.
    gap(r"(?:^|[;{}(])[ \t]*((?:await[ \t]+)?using)[ \t]+[A-Za-z_$][\w$]*[ \t]*(?::[^=;\n]*)?(?:=[^=>]|of\b)", "const"),
    // Variance.
    gap(r"[<,]\s*((?:in\s+out|in|out)\s)\s*[A-Za-z_]\w*\s*(?:[,>=]|extends\b)", ""),
    // A signature without a semicolon, before one with type parameters.
    gap(
        r#"(?:[\w\])}"']|[^=]>)(\n)(?:\s*(?:/\*(?:[^*]|\*+[^*/])*\*+/|//[^\n]*\n))*\s*<(?:[ \t]*\n|(?:const\s+)?[A-Z])"#,
        ";",
    ),
    // A field that is called as an operator, after one without a semicolon.
    gap(r"[^\s,;{(|&](\n)[ \t]*(?:in|instanceof)(?:[0-9_$]\w*)?\??:", ";"),
    gap(r"^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?(?:const[ \t]+)?enum\s+\w+\s+(of\s+\w+)", ""),
];

/// JavaScript with types, as Flow has them, for the grammar of TypeScript.
pub(super) static FLOW: [Gap; 20] = [
    gap(r"[{,;]\s*(proto\s+)[A-Za-z_$][\w$]*\s*:", ""),
    gap(r"^[ \t]*declare[ \t]+(export[ \t]+)", ""),
    gap(r"^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?(opaque[ \t]+)type\s", ""),
    gap(r"^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?[ \t]*type\s+\w+(?:<[^=;{}\n]*>)?(\s*:[^=;{}\n]*)=", ""),
    gap(r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+|declare[ \t]+)?(component)\s+\w+\s*[(<]", "function"),
    // Variance.
    gap(r#"(?:^|[{,;|(])\s*(?:static\s+)?([+-])(?:[A-Za-z_$][\w$]*|"[^"\n]*"|'[^'\n]*'|\[[^\]\n]*\])\??\s*:"#, ""),
    gap(r"[<,]\s*([+-])[A-Za-z_]", ""),
    // Spread and inexact objects.
    gap(r"(?:^|[{,|;])\s*(\.\.\.(?:[A-Z$_][\w.$]*(?:<[^<>{}()]*(?:<[^<>]*>)?[^<>{}()]*>)?)?\s*,)", ""),
    gap(r"(?:^|[{,|;])\s*(\.\.\.(?:[A-Z$_][\w.$]*(?:<[^<>{}()]*(?:<[^<>]*>)?[^<>{}()]*>)?)?)\s*\|?\}", ""),
    // Bounds of type parameters.
    gap(
        r"(?:function\s*\w*|class\s+\w+|type\s+\w+|interface\s+\w+|=)\s*<[^<>()=;{}]*?\w(\s*:\s*[^<>,()=;]+(?:<[^<>]*>)?)[,>=]",
        "",
    ),
    gap(r"=\s*(?:async\s*)?(<[A-Z][\w, +:?.]*>)\s*\(", ""),
    gap(r"(%checks\b)", ""),
    gap(r"^[ \t]*(?:export[ \t]+)?enum\s+\w+\s+(of\s+\w+)", ""),
    // Function types: that may be null, with one parameter, with none.
    gap(r"[:<,|(=]\s*(\?)\s*\(", ""),
    gap(r"(?:[:<|]|type\s+\w+(?:<[^=;{}\n]*>)?\s*=)\s*(\??[A-Za-z_$][\w$.]*\s*=>)\s*[A-Za-z_$?*]", ""),
    gap(r"\((void)\)\s*=>", ""),
    gap(
        r"[:=|?]\s*(component\s*(?:<[^<>]*>)?\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:\s*renders[?*]?\s+\w+)?)",
        "any",
    ),
    gap(r"\b(interface)\s*\{", ""),
    IMPORTED,
    gap(r"^[ \t]*(declare\s+module\.exports\s*:)", ""),
];

pub(super) static ZIG: [Gap; 1] = [gap(r":\s*(\.\{[^{}]*\})\s*\)", "")];
