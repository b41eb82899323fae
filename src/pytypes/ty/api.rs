//! Items of the type engine's crates, under the names that the rest of this module uses.
//!
//! Owns every path into the `ty_*` and `ruff_*` crates, and replacements for items that were removed from them or that change between
//! releases. Their interface has no stability promise: after an upgrade, most errors are to be fixed here (CONTRIBUTING.md describes
//! upgrades). Does not own `salsa`, whose macros name their crate themselves, or the database (`db`).

pub(in crate::pytypes) use ruff_db::Db as SourceDb;
pub(in crate::pytypes) use ruff_db::diagnostic::{
    Annotation, Diagnostic, DiagnosticId, DisplayDiagnosticConfig, Severity, Span, SubDiagnosticSeverity,
};
pub(in crate::pytypes) use ruff_db::files::{
    File, FilePath, FileRootKind, Files, system_path_to_file, vendored_path_to_file,
};
pub(in crate::pytypes) use ruff_db::panic::{PanicError, catch_unwind};
pub(in crate::pytypes) use ruff_db::parsed::{ParsedModuleRef, parsed_module};
pub(in crate::pytypes) use ruff_db::source::{SourceText, SourceTextError, source_text};
pub(in crate::pytypes) use ruff_db::system::walk_directory::{WalkDirectoryBuilder, WalkState};
pub(in crate::pytypes) use ruff_db::system::{
    CommandExecutor, DirectoryEntry, Metadata, OsSystem, System, SystemPath, SystemPathBuf, SystemVirtualPath,
    WhichResult, WritableSystem,
};
pub(in crate::pytypes) use ruff_db::vendored::VendoredFileSystem;
pub(in crate::pytypes) use ruff_diagnostics::SourceMap;
pub(in crate::pytypes) use ruff_notebook::{Notebook, NotebookError};
pub(in crate::pytypes) use ruff_python_ast::find_node::{CoveringNode, covering_node};
pub(in crate::pytypes) use ruff_python_ast::script::ScriptTag;
pub(in crate::pytypes) use ruff_python_ast::token::{Token, TokenAt, TokenKind, Tokens};
pub(in crate::pytypes) use ruff_python_ast::visitor::source_order::{
    SourceOrderVisitor, TraversalSignal, walk_expr, walk_pattern, walk_stmt,
};
pub(in crate::pytypes) use ruff_python_ast::{
    self as ast, AnyNodeRef, ArgOrKeyword, CmpOp, Expr, ExprContext, ExprRef, Pattern, PySourceType, PythonVersion,
    Stmt,
};
pub(in crate::pytypes) use ruff_python_parser::{parse_expression, parse_module};
pub(in crate::pytypes) use ruff_text_size::{Ranged, TextLen, TextRange, TextSize};
pub(in crate::pytypes) use ty_module_resolver::{
    Db as ModuleDb, FallibleStrategy, ModuleGlobSet, SearchPathSettings, SearchPaths, UseDefaultStrategy,
    file_to_module, resolve_module_confident, resolve_real_module_confident,
};
pub(in crate::pytypes) use ty_python_core::definition::{Definition, DefinitionKind, TargetKind};
pub(in crate::pytypes) use ty_python_core::platform::PythonPlatform;
pub(in crate::pytypes) use ty_python_core::program::{Program, ProgramSettings};
pub(in crate::pytypes) use ty_python_core::scope::ScopeKind;
pub(in crate::pytypes) use ty_python_core::{Db as CoreDb, ProgramFile, semantic_index};
pub(in crate::pytypes) use ty_python_semantic::dependency::DependencyMetadata;
pub(in crate::pytypes) use ty_python_semantic::lint::{GetLintError, LintId, LintRegistry, LintSource, RuleSelection};
pub(in crate::pytypes) use ty_python_semantic::types::ide_support::{
    call_signature_details, call_type_simplified_by_overloads, constructor_signature,
    definitions_and_overloads_for_function, definitions_for_keyword_argument, resolved_call_signature,
    type_hierarchy_supertypes, typed_dict_key_definition, typed_dict_key_hover, unreachable_ranges,
};
pub(in crate::pytypes) use ty_python_semantic::types::{KnownClass, Type, TypeDefinition, TypeDetail, UnionType};
pub(in crate::pytypes) use ty_python_semantic::{
    AnalysisSettings, Db as SemanticDb, HasDefinition, HasType, ImportAliasResolution, ProgramEnvironment,
    PythonEnvironment, PythonVersionFileSource, PythonVersionSource, PythonVersionWithSource, ResolvedDefinition,
    ReturnTypeInference, SemanticModel, SitePackagesPaths, SysPrefixPathOrigin, check_file, default_lint_registry,
    definitions_for_attribute, definitions_for_bin_op, definitions_for_imported_symbol, definitions_for_name,
    definitions_for_unary_op, map_stub_definition,
};
pub(in crate::pytypes) use ty_vendored::file_system as bundled_stubs;

/// Whether a text contains a name other than as a part of a longer one. Fast, and true of comments and strings, too: it selects the
/// files in which a search looks further.
pub(in crate::pytypes) fn contains_identifier(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    let continues = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    !name.is_empty()
        && memchr::memmem::find_iter(bytes, name)
            .any(|at| !continues(at.checked_sub(1)) && !continues(Some(at + name.len())))
}

/// The operands of a comparison: in `a < b <= c`, the first is `a`.
pub(in crate::pytypes) fn operands(compare: &ast::ExprCompare) -> &[Expr] {
    &compare.operands
}

/// The type of a name in the innermost scope around `node` that has it.
pub(in crate::pytypes) fn type_in_scope<'db>(
    model: &SemanticModel<'db>,
    node: AnyNodeRef<'_>,
    name: &str,
) -> Option<Type<'db>> {
    model.scoped_completions(node).into_iter().find(|found| found.name == name && !found.builtin)?.ty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_longer_names_are_not_the_name() {
        for (text, expected) in
            [("x", true), ("ax", false), ("x_", false), ("a.x(1)", true), ("xx x", true), ("éx", true), ("", false)]
        {
            assert_eq!(contains_identifier(text, "x"), expected, "{text}");
        }
        assert!(!contains_identifier("x", ""));
    }
}
