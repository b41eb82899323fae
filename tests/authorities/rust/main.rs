//! Prints the definitions of Rust files as `syn` reads them: PATH, line, kind, name and container, separated by tabs.
//!
//! usage: rust-authority < LIST-OF-FILES. Kinds: module, struct, enum, union, trait, type, field, variant, function, method,
//! constant, variable, macro, `optional` for what only its own block sees, and `inside` for the lines of a macro's text: from its
//! line to that of the fourth column. A file that does not parse prints PATH and `unreadable`.

use std::io::{Read, Write};

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{ForeignItem, ImplItem, Item, TraitItem, Type};

struct Definitions<'p, W: Write> {
    path: &'p str,
    out: W,
}

impl<W: Write> Definitions<'_, W> {
    fn print(&mut self, kind: &str, name: &Ident, container: &str) {
        let text = name.to_string();
        let text = text.strip_prefix("r#").unwrap_or(&text);
        writeln!(self.out, "{}\t{}\t{kind}\t{text}\t{container}", self.path, name.span().start().line).unwrap();
    }

    fn exclude(&mut self, span: Span) {
        writeln!(self.out, "{}\t{}\tinside\t{}\t", self.path, span.start().line, span.end().line).unwrap();
    }

    fn fields(&mut self, fields: &syn::Fields, container: &str, kind: &str) {
        for field in fields {
            if let Some(name) = &field.ident {
                self.print(kind, name, container);
            }
        }
    }

    fn block(&mut self, block: &syn::Block) {
        let mut inner = Inner(self);
        syn::visit::Visit::visit_block(&mut inner, block);
    }

    fn items(&mut self, items: &[Item], is_local: bool) {
        for item in items {
            self.item(item, is_local);
        }
    }

    fn item(&mut self, item: &Item, is_local: bool) {
        let of = |kind: &'static str| if is_local { "optional" } else { kind };
        match item {
            Item::Fn(item) => {
                self.print(of("function"), &item.sig.ident, "");
                self.block(&item.block);
            }
            Item::Struct(item) => {
                self.print(of("struct"), &item.ident, "");
                self.fields(&item.fields, &item.ident.to_string(), of("field"));
            }
            Item::Union(item) => {
                self.print(of("union"), &item.ident, "");
                for field in &item.fields.named {
                    self.print(of("field"), field.ident.as_ref().unwrap(), &item.ident.to_string());
                }
            }
            Item::Enum(item) => {
                self.print(of("enum"), &item.ident, "");
                for variant in &item.variants {
                    self.print(of("variant"), &variant.ident, &item.ident.to_string());
                    self.fields(&variant.fields, &variant.ident.to_string(), of("field"));
                }
            }
            Item::Trait(item) => {
                self.print(of("trait"), &item.ident, "");
                let container = item.ident.to_string();
                for member in &item.items {
                    match member {
                        TraitItem::Fn(member) => {
                            self.print(of("method"), &member.sig.ident, &container);
                            member.default.iter().for_each(|block| self.block(block));
                        }
                        TraitItem::Const(member) => self.print(of("constant"), &member.ident, &container),
                        TraitItem::Type(member) => self.print(of("type"), &member.ident, &container),
                        TraitItem::Macro(member) => self.exclude(member.mac.span()),
                        _ => {}
                    }
                }
            }
            Item::Impl(item) => {
                let container = self_name(&item.self_ty);
                for member in &item.items {
                    match member {
                        ImplItem::Fn(member) => {
                            self.print(of("method"), &member.sig.ident, &container);
                            self.block(&member.block);
                        }
                        ImplItem::Const(member) => self.print(of("constant"), &member.ident, &container),
                        ImplItem::Type(member) => self.print(of("type"), &member.ident, &container),
                        ImplItem::Macro(member) => self.exclude(member.mac.span()),
                        _ => {}
                    }
                }
            }
            Item::ForeignMod(item) => {
                for member in &item.items {
                    match member {
                        ForeignItem::Fn(member) => self.print(of("function"), &member.sig.ident, ""),
                        ForeignItem::Static(member) => self.print(of("variable"), &member.ident, ""),
                        ForeignItem::Type(member) => self.print(of("type"), &member.ident, ""),
                        ForeignItem::Macro(member) => self.exclude(member.mac.span()),
                        _ => {}
                    }
                }
            }
            Item::Mod(item) => {
                // Without content it is defined by another file.
                self.print(if item.content.is_some() { of("module") } else { "optional" }, &item.ident, "");
                if let Some((_, items)) = &item.content {
                    self.items(items, is_local);
                }
            }
            Item::Type(item) => self.print(of("type"), &item.ident, ""),
            Item::TraitAlias(item) => self.print(of("trait"), &item.ident, ""),
            Item::Const(item) => {
                // `_` is not a name.
                self.print(if item.ident == "_" { "optional" } else { of("constant") }, &item.ident, "");
                syn::visit::Visit::visit_expr(&mut Inner(self), &item.expr);
            }
            Item::Static(item) => {
                self.print(of("variable"), &item.ident, "");
                syn::visit::Visit::visit_expr(&mut Inner(self), &item.expr);
            }
            Item::Macro(item) => {
                if let Some(name) = &item.ident {
                    self.print(of("macro"), name, "");
                }
                self.exclude(item.mac.span());
            }
            Item::Verbatim(item) => self.exclude(item.span()),
            _ => {}
        }
    }
}

/// Visits a block for the definitions in it.
struct Inner<'d, 'p, W: Write>(&'d mut Definitions<'p, W>);

impl<'ast, W: Write> syn::visit::Visit<'ast> for Inner<'_, '_, W> {
    fn visit_item(&mut self, item: &'ast Item) {
        self.0.item(item, true);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.0.exclude(invoked.span());
    }
}

/// The name of the type that an `impl` is for.
fn self_name(of: &Type) -> String {
    match of {
        Type::Path(of) => of.path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string()),
        Type::Reference(of) => self_name(&of.elem),
        Type::Paren(of) => self_name(&of.elem),
        Type::Group(of) => self_name(&of.elem),
        _ => String::new(),
    }
}

fn main() {
    let mut list = String::new();
    std::io::stdin().read_to_string(&mut list).unwrap();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for path in list.lines() {
        match std::fs::read_to_string(path).map_err(drop).and_then(|text| syn::parse_file(&text).map_err(drop)) {
            Ok(file) => Definitions { path, out: &mut out }.items(&file.items, false),
            Err(()) => writeln!(out, "{path}\tunreadable").unwrap(),
        }
    }
}
