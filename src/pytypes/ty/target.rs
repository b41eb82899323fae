//! The syntax at a position of a Python file, and what it refers to.
//!
//! Owns the conversion from an offset to a [`Target`], and from a target to its definitions and type. A string
//! annotation has a syntax tree of its own, which must be used with its own model only: a target is passed to a
//! callback together with its model.

use super::api::{
    AnyNodeRef, CoveringNode, Expr, ExprRef, HasDefinition, HasType, ImportAliasResolution, ParsedModuleRef,
    ProgramFile, Ranged, ResolvedDefinition, SemanticModel, TextRange, TextSize, TokenAt, TokenKind, Tokens, Type, ast,
    covering_node, definitions_and_overloads_for_function, definitions_for_bin_op, definitions_for_imported_symbol,
    definitions_for_name, definitions_for_unary_op, parsed_module, type_in_scope, typed_dict_key_definition,
};
use super::db::Database;
use super::expressions::{keep_of_class, of_callee, of_expression, unique};
use super::keyword_members;
use super::super_members::member;

/// A piece of syntax that refers to something.
#[derive(Clone, Debug)]
pub(super) enum Target<'a> {
    Expression(ExprRef<'a>),
    /// A name or attribute that is called.
    Callee {
        callee: ExprRef<'a>,
        call: &'a ast::ExprCall,
        on_parenthesis: bool,
    },
    Function(&'a ast::StmtFunctionDef),
    Class(&'a ast::StmtClassDef),
    Parameter(&'a ast::Parameter),
    /// One component of a dotted module name, with those before it.
    Module {
        name: String,
        level: u32,
        range: TextRange,
    },
    /// The name that an import binds: `import a.b as NAME`, `from a import b as NAME`.
    ImportAs {
        alias: &'a ast::Alias,
        name: &'a ast::Identifier,
    },
    /// The name that is imported from a module.
    Imported {
        from: &'a ast::StmtImportFrom,
        alias: &'a ast::Alias,
    },
    /// A name bound or declared by a statement or a pattern: after `except … as`, `global`, in `case`.
    Name {
        name: &'a ast::Identifier,
        handler: Option<&'a ast::ExceptHandlerExceptHandler>,
    },
    TypeVariable(&'a ast::TypeParamTypeVar),
    Keyword {
        name: &'a ast::Identifier,
        keyword: &'a ast::Keyword,
        call: &'a ast::ExprCall,
    },
    /// `x` in `case Point(x=0)`.
    PatternKeyword {
        name: &'a ast::Identifier,
        class: &'a Expr,
    },
    Binary {
        operation: &'a ast::ExprBinOp,
        range: TextRange,
    },
    Unary {
        operation: &'a ast::ExprUnaryOp,
        range: TextRange,
    },
    /// The string in the brackets of `record["key"]`.
    Key {
        subscript: &'a ast::ExprSubscript,
        key: &'a str,
    },
}

/// Calls `use_it` with the target at `offset` and its model; `None` if there is no target.
pub(super) fn at<'db, T>(
    db: &'db Database,
    file: ProgramFile<'db>,
    offset: TextSize,
    use_it: impl FnOnce(&SemanticModel<'db>, &Target<'_>) -> T,
) -> Option<T> {
    let model = SemanticModel::new(db, file);
    let parsed: ParsedModuleRef = parsed_module(db, file.python_file(db)).load(db);
    within(&model, parsed.tokens(), parsed.syntax().into(), offset, 0, use_it)
}

/// The maximum nesting of string annotations; the checker supports two levels.
const MAX_ANNOTATION_NESTING: usize = 2;

fn within<'db, T>(
    model: &SemanticModel<'db>,
    tokens: &Tokens,
    tree: AnyNodeRef<'_>,
    offset: TextSize,
    depth: usize,
    use_it: impl FnOnce(&SemanticModel<'db>, &Target<'_>) -> T,
) -> Option<T> {
    let range = token_at(tokens, offset)?;
    if !tree.range().contains_range(range) {
        return None;
    }
    let is_own = |node: AnyNodeRef| node.is_identifier() || node.is_expression() || node.is_stmt_import_from();
    let nodes = covering_node(tree, range).find_first(is_own).ok()?;
    if let AnyNodeRef::ExprStringLiteral(text) = nodes.node()
        && depth < MAX_ANNOTATION_NESTING
        && let Some((quoted, inner)) = model.enter_string_annotation(text)
    {
        return within(&inner, quoted.tokens(), quoted.syntax().into(), offset, depth + 1, use_it);
    }
    let target = Target::from_node(&nodes, offset, tokens)?;
    Some(use_it(model, &target))
}

/// The token at an offset. Between two tokens, a name, literal or operator wins over its neighbour.
fn token_at(tokens: &Tokens, offset: TextSize) -> Option<TextRange> {
    if let Some(range) = parenthesis(tokens, offset) {
        return Some(range);
    }
    let weight = |kind: TokenKind| match kind {
        TokenKind::Identifier | TokenKind::String | TokenKind::Complex | TokenKind::Float | TokenKind::Int => 1,
        TokenKind::Comment => -1,
        kind if kind.as_binary_operator().is_some() || kind.as_unary_operator().is_some() => 1,
        _ => 0,
    };
    let token = tokens.at_offset(offset).max_by_key(|token| weight(token.kind()))?;
    (!token.kind().is_comment()).then(|| token.range())
}

/// The opening parenthesis of a call, if the offset is on it.
fn parenthesis(tokens: &Tokens, offset: TextSize) -> Option<TextRange> {
    match tokens.at_offset(offset) {
        TokenAt::Single(token) if matches!(token.kind(), TokenKind::Lpar | TokenKind::Rpar) => Some(token.range()),
        TokenAt::Between(left, right)
            if right.kind() == TokenKind::Lpar
                || (left.kind() == TokenKind::Lpar && right.kind() == TokenKind::Rpar) =>
        {
            Some(left.range())
        }
        _ => None,
    }
}

impl<'a> Target<'a> {
    /// The target for a node, given with its ancestors.
    pub fn from_node(nodes: &CoveringNode<'a>, offset: TextSize, tokens: &Tokens) -> Option<Self> {
        let node = nodes.node();
        if let Some(subscripted) = subscript_of(nodes, offset) {
            return Some(subscripted);
        }
        match node {
            AnyNodeRef::Identifier(name) => Self::from_identifier(name, nodes, offset, tokens),
            AnyNodeRef::ExprBinOp(operation) => {
                let between = TextRange::new(operation.left.end(), operation.right.start().max(operation.left.end()));
                let operator =
                    tokens.in_range(between).iter().find(|token| token.kind().as_binary_operator().is_some());
                Some(match operator.map(Ranged::range) {
                    Some(range) if between.contains(offset) && range.contains_inclusive(offset) => {
                        Self::Binary { operation, range }
                    }
                    _ => Self::Expression(operation.into()),
                })
            }
            AnyNodeRef::ExprUnaryOp(operation) => {
                let before = TextRange::new(operation.start(), operation.operand.start());
                let operator = tokens.in_range(before).iter().find(|token| token.kind().as_unary_operator().is_some());
                Some(match operator.map(Ranged::range) {
                    Some(range) if before.contains(offset) && range.contains_inclusive(offset) => {
                        Self::Unary { operation, range }
                    }
                    _ => Self::Expression(operation.into()),
                })
            }
            node => {
                // The name before the parentheses, or the enclosing call.
                for around in nodes.parent().into_iter().chain([node]) {
                    if let AnyNodeRef::ExprCall(call) = around
                        && let Expr::Name(name) = &*call.func
                    {
                        let on_parenthesis = parenthesis(tokens, offset).is_some();
                        return Some(Self::Callee { callee: name.into(), call, on_parenthesis });
                    }
                }
                node.as_expr_ref().map(Self::Expression)
            }
        }
    }

    fn from_identifier(
        name: &'a ast::Identifier,
        nodes: &CoveringNode<'a>,
        offset: TextSize,
        tokens: &Tokens,
    ) -> Option<Self> {
        let plain = Some(Self::Name { name, handler: None });
        match nodes.parent()? {
            AnyNodeRef::StmtFunctionDef(function) => Some(Self::Function(function)),
            AnyNodeRef::StmtClassDef(class) => Some(Self::Class(class)),
            AnyNodeRef::Parameter(parameter) => Some(Self::Parameter(parameter)),
            AnyNodeRef::Alias(alias) => Self::from_alias(alias, nodes, offset),
            AnyNodeRef::StmtImportFrom(from) => from.module.as_ref().and_then(|m| part_at(m, from.level, offset)),
            AnyNodeRef::ExceptHandlerExceptHandler(handler) => Some(Self::Name { name, handler: Some(handler) }),
            AnyNodeRef::Keyword(keyword) => {
                let call = nodes.ancestors().find_map(AnyNodeRef::expr_call)?;
                Some(Self::Keyword { name, keyword, call })
            }
            AnyNodeRef::TypeParamTypeVar(variable) => Some(Self::TypeVariable(variable)),
            AnyNodeRef::PatternKeyword(_) => {
                let class = nodes.ancestors().find_map(AnyNodeRef::pattern_match_class)?;
                Some(Self::PatternKeyword { name, class: &class.cls })
            }
            AnyNodeRef::PatternMatchMapping(_)
            | AnyNodeRef::PatternMatchStar(_)
            | AnyNodeRef::PatternMatchAs(_)
            | AnyNodeRef::TypeParamParamSpec(_)
            | AnyNodeRef::TypeParamTypeVarTuple(_)
            | AnyNodeRef::StmtNonlocal(_)
            | AnyNodeRef::StmtGlobal(_) => plain,
            AnyNodeRef::ExprAttribute(attribute) => {
                let callee = ExprRef::from(attribute);
                Some(match nodes.ancestors().nth(2) {
                    Some(AnyNodeRef::ExprCall(call)) if ExprRef::from(&call.func) == callee => {
                        Self::Callee { callee, call, on_parenthesis: parenthesis(tokens, offset).is_some() }
                    }
                    _ => Self::Expression(callee),
                })
            }
            _ => None,
        }
    }

    fn from_alias(alias: &'a ast::Alias, nodes: &CoveringNode<'a>, offset: TextSize) -> Option<Self> {
        if let Some(name) = alias.asname.as_ref().filter(|name| name.range.contains_inclusive(offset)) {
            return Some(Self::ImportAs { alias, name });
        }
        if !alias.name.range.contains_inclusive(offset) {
            return None;
        }
        nodes.ancestors().find_map(|around| match around {
            AnyNodeRef::StmtImport(_) => Some(part_at(&alias.name, 0, offset)),
            AnyNodeRef::StmtImportFrom(from) => Some(Some(Self::Imported { from, alias })),
            _ => None,
        })?
    }

    /// The name in the text; `None` for operators and keys.
    pub fn name(&self) -> Option<&str> {
        Some(match self {
            Self::Expression(expression) | Self::Callee { callee: expression, .. } => match expression {
                ExprRef::Name(name) => name.id.as_str(),
                ExprRef::Attribute(attribute) => attribute.attr.as_str(),
                _ => return None,
            },
            Self::Function(function) => function.name.as_str(),
            Self::Class(class) => class.name.as_str(),
            Self::Parameter(parameter) => parameter.name.as_str(),
            Self::Module { name, .. } => name.rsplit('.').next().unwrap_or(name),
            Self::Imported { alias, .. } => alias.name.as_str(),
            Self::ImportAs { name, .. }
            | Self::Name { name, .. }
            | Self::Keyword { name, .. }
            | Self::PatternKeyword { name, .. } => name.as_str(),
            Self::TypeVariable(variable) => variable.name.as_str(),
            Self::Binary { .. } | Self::Unary { .. } | Self::Key { .. } => return None,
        })
    }

    /// The range of the target. For an attribute, the range of its name.
    pub fn range(&self) -> TextRange {
        match self {
            Self::Expression(expression) | Self::Callee { callee: expression, .. } => match expression {
                ExprRef::Attribute(attribute) => attribute.attr.range,
                expression => expression.range(),
            },
            Self::Function(function) => function.name.range,
            Self::Class(class) => class.name.range,
            Self::Parameter(parameter) => parameter.name.range,
            Self::Imported { alias, .. } => alias.name.range,
            Self::ImportAs { name, .. }
            | Self::Name { name, .. }
            | Self::Keyword { name, .. }
            | Self::PatternKeyword { name, .. } => name.range,
            Self::TypeVariable(variable) => variable.name.range,
            Self::Module { range, .. } | Self::Binary { range, .. } | Self::Unary { range, .. } => *range,
            Self::Key { subscript, .. } => subscript.slice.range(),
        }
    }

    pub fn inferred_type<'db>(&self, model: &SemanticModel<'db>) -> Option<Type<'db>> {
        match self {
            Self::Expression(expression) | Self::Callee { callee: expression, .. } => expression.inferred_type(model),
            Self::Function(function) => function.inferred_type(model),
            Self::Class(class) => class.inferred_type(model),
            Self::Parameter(parameter) => parameter.inferred_type(model),
            Self::Imported { alias, .. } | Self::ImportAs { alias, .. } => alias.inferred_type(model),
            Self::Module { name, level, .. } => model.resolve_module_type(Some(name), *level),
            Self::Name { handler: Some(handler), .. } => handler.inferred_type(model),
            Self::Name { name, handler: None } => type_in_scope(model, AnyNodeRef::from(*name), name.as_str()),
            Self::TypeVariable(variable) => variable.inferred_type(model),
            Self::Keyword { keyword, .. } => keyword.value.inferred_type(model),
            // `type_at` takes the type from the definition of the member.
            Self::PatternKeyword { .. } => None,
            Self::Binary { operation, .. } => definitions_for_bin_op(model, operation).map(|(_, operator)| operator),
            Self::Unary { operation, .. } => definitions_for_unary_op(model, operation).map(|(_, operator)| operator),
            Self::Key { subscript, .. } => subscript.inferred_type(model),
        }
    }

    /// The definitions, without duplicates. For a call of a class, they include `__init__` and `__new__`.
    pub fn definitions<'db>(
        &self,
        model: &SemanticModel<'db>,
        aliases: ImportAliasResolution,
    ) -> Vec<ResolvedDefinition<'db>> {
        let named =
            |name: &ast::Identifier| definitions_for_name(model, name.as_str(), AnyNodeRef::Identifier(name), aliases);
        let mut found = match self {
            Self::Expression(expression) => of_expression(model, *expression, aliases),
            Self::Callee { callee, call, .. } => of_callee(model, *callee, call, aliases),
            Self::Function(function) => {
                let mut found = definitions_and_overloads_for_function(model, function);
                found.extend(getter_of(model, function, aliases));
                found
            }
            Self::Class(class) => vec![ResolvedDefinition::Definition(class.definition(model))],
            Self::Parameter(parameter) => vec![ResolvedDefinition::Definition(parameter.definition(model))],
            Self::ImportAs { name, .. } | Self::Name { name, .. } => named(name),
            Self::TypeVariable(variable) => named(&variable.name),
            Self::Imported { from, alias } => {
                definitions_for_imported_symbol(model, from, alias.name.as_str(), aliases)
            }
            Self::Module { name, level, .. } => {
                let module = model.resolve_module(Some(name), *level);
                let file = module.and_then(|module| module.file(model.db()));
                file.map(|file| ResolvedDefinition::Module(ProgramFile::new(model.db(), file, model.program())))
                    .into_iter()
                    .collect()
            }
            Self::Keyword { name, keyword, call } => {
                let mut found = keyword_members::of_argument(model, keyword, call);
                found.extend(keyword_members::of_copy(model, call, name));
                found.extend(keyword_members::handed_on(model, keyword, call));
                found
            }
            Self::PatternKeyword { name, class } => member(model, class, name),
            Self::Binary { operation, .. } => {
                definitions_for_bin_op(model, operation).map(|(found, _)| found).unwrap_or_default()
            }
            Self::Unary { operation, .. } => {
                definitions_for_unary_op(model, operation).map(|(found, _)| found).unwrap_or_default()
            }
            Self::Key { subscript, key } => typed_dict_key_definition(model, subscript, key).into_iter().collect(),
        };
        unique(&mut found);
        found
    }

    /// [`Self::definitions`] without those that do not apply: the name of a called class refers to the class, its
    /// opening parenthesis to the constructor.
    pub fn declared<'db>(
        &self,
        model: &SemanticModel<'db>,
        aliases: ImportAliasResolution,
    ) -> Vec<ResolvedDefinition<'db>> {
        let mut found = self.definitions(model, aliases);
        let Self::Callee { callee, on_parenthesis, .. } = self else { return found };
        keep_of_class(&mut found, model, *callee, *on_parenthesis);
        found
    }
}

/// The getter of the property whose setter or deleter a function is. They are one attribute.
fn getter_of<'db>(
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    aliases: ImportAliasResolution,
) -> Vec<ResolvedDefinition<'db>> {
    for decorator in &function.decorator_list {
        if let Expr::Attribute(attribute) = &decorator.expression
            && matches!(attribute.attr.as_str(), "setter" | "deleter")
            && matches!(attribute.value.inferred_type(model), Some(Type::PropertyInstance(_)))
        {
            return of_expression(model, (&*attribute.value).into(), aliases);
        }
    }
    Vec::new()
}

/// The component of a dotted name at an offset.
fn part_at<'a>(module: &ast::Identifier, level: u32, offset: TextSize) -> Option<Target<'a>> {
    let name = module.as_str();
    let at = (offset - module.start()).to_usize();
    let mut start = 0;
    for part in name.split('.') {
        let end = start + part.len();
        if (start..=end).contains(&at) {
            return module_part(module, level, start, end);
        }
        start = end + 1;
    }
    None
}

/// A dotted name up to the component at these offsets.
pub(super) fn module_part<'a>(module: &ast::Identifier, level: u32, start: usize, end: usize) -> Option<Target<'a>> {
    let size = |at: usize| TextSize::try_from(at).ok();
    let range = TextRange::new(module.start() + size(start)?, module.start() + size(end)?);
    Some(Target::Module { name: module.as_str().get(..end)?.to_owned(), level, range })
}

/// A literal in the brackets of a subscript refers to the element, not to itself.
fn subscript_of<'a>(nodes: &CoveringNode<'a>, offset: TextSize) -> Option<Target<'a>> {
    let expression = nodes.node().as_expr_ref()?;
    let around = |range: TextRange| {
        nodes.ancestors().find_map(|node| match node {
            AnyNodeRef::ExprSubscript(subscript) if subscript.slice.range() == range => Some(subscript),
            _ => None,
        })
    };
    let element = |subscript: &'a ast::ExprSubscript| Target::Expression(subscript.into());
    if matches!(expression, ExprRef::Slice(_)) {
        return around(expression.range()).map(element);
    }
    let is_sign = |operation: &ast::ExprUnaryOp| {
        matches!(operation.op, ast::UnaryOp::USub | ast::UnaryOp::UAdd) && operation.operand.is_literal_expr()
    };
    let literal = match (expression, nodes.parent()) {
        (ExprRef::UnaryOp(operation), _) if is_sign(operation) => Some(operation.range()),
        (expression, Some(AnyNodeRef::ExprUnaryOp(operation)))
            if expression.is_literal_expr() && is_sign(operation) =>
        {
            Some(operation.range())
        }
        (expression, _) if expression.is_literal_expr() => Some(expression.range()),
        _ => None,
    };
    if let Some(range) = literal {
        if let Some(subscript) = around(range) {
            return Some(match &*subscript.slice {
                Expr::StringLiteral(text) => Target::Key { subscript, key: text.value.to_str() },
                _ => element(subscript),
            });
        }
        let slice = nodes.ancestors().find_map(|node| match node {
            AnyNodeRef::ExprSlice(slice) => Some(slice.range()),
            _ => None,
        });
        if let Some(subscript) = slice.and_then(around) {
            return Some(element(subscript));
        }
    }
    match nodes.parent() {
        Some(AnyNodeRef::ExprSubscript(subscript))
            if subscript.value.range() == expression.range() && expression.range().end() == offset =>
        {
            // A position just past a name counts as on it.
            (!matches!(expression, ExprRef::Name(_) | ExprRef::Attribute(_))).then(|| element(subscript))
        }
        _ => None,
    }
}
