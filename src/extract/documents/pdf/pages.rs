//! The pages of a PDF in order, from its page tree.
//!
//! Owns the walk. The page counts of nodes and the tree structure are not trusted.

use std::collections::HashSet;

use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, Dict, MaybeRef, Name, ObjectIdentifier, Rect};
use hayro_syntax::page::A4;

/// The pages that a page tree leads to.
pub(super) struct Pages<'a> {
    /// In order; `None` is one that cannot be read.
    pub first: Vec<Option<Page<'a>>>,
    /// With those that are too many to be kept.
    pub total: usize,
    /// Whether it leads to a part of itself a second time, as in a cycle.
    pub is_doubled: bool,
}

/// A page with the attributes that it inherits.
#[derive(Clone)]
pub(super) struct Page<'a> {
    pub dict: Dict<'a>,
    pub resources: Dict<'a>,
    pub media: Rect,
    /// In degrees, clockwise.
    pub turned: i32,
}

impl<'a> Page<'a> {
    /// A node of the tree below this one.
    fn below(&self, dict: Dict<'a>) -> Self {
        Self {
            resources: dict.get("Resources").unwrap_or_else(|| self.resources.clone()),
            media: dict.get("MediaBox").unwrap_or(self.media),
            turned: dict.get::<i32>("Rotate").unwrap_or(self.turned).rem_euclid(360),
            dict,
        }
    }
}

impl<'a> Pages<'a> {
    /// The first `most` pages of a file, each part of the tree once.
    pub fn read(pdf: &'a Pdf, most: usize) -> Self {
        let mut found = Self { first: Vec::new(), total: 0, is_doubled: false };
        let top = Page { dict: Dict::empty(), resources: Dict::empty(), media: A4, turned: 0 };
        let Some(catalog) = pdf.xref().get::<Dict<'a>>(pdf.xref().root_id()) else { return found };
        let Some(root) = catalog.get::<Dict<'a>>("Pages") else { return found };
        let mut entered: HashSet<ObjectIdentifier> = catalog.get_ref("Pages").map(Into::into).into_iter().collect();
        let root = top.below(root);
        let kids = |node: &Page<'a>| node.dict.get::<Array<'a>>("Kids").map(|kids| kids.raw_iter());
        let mut open: Vec<_> = kids(&root).map(|kids| (root, kids)).into_iter().collect();
        while let Some((node, rest)) = open.last_mut() {
            let Some(kid) = rest.next() else {
                open.pop();
                continue;
            };
            let (id, dict) = match kid {
                MaybeRef::Ref(id) => (Some(id.into()), pdf.xref().get::<Dict<'a>>(id.into())),
                MaybeRef::NotRef(object) => (None, object.into_dict()),
            };
            let kid = dict.map(|dict| node.below(dict));
            if let Some(tree) = kid.as_ref().filter(|kid| is_tree(&kid.dict)) {
                if id.is_some_and(|id| !entered.insert(id)) {
                    found.is_doubled = true;
                } else if let Some(kids) = kids(tree) {
                    open.push((tree.clone(), kids));
                }
                continue;
            }
            found.total += 1;
            if found.first.len() < most {
                found.first.push(kid);
            }
        }
        found
    }

    /// All objects that are pages, in the order of the file, where the tree is lost.
    pub fn without_tree(pdf: &'a Pdf, most: usize) -> Self {
        let pages = pdf.pages();
        let page = |page: &hayro_syntax::page::Page<'a>| Page {
            dict: page.raw().clone(),
            resources: page.raw().get("Resources").unwrap_or_default(),
            media: page.media_box(),
            turned: 0,
        };
        let first = pages.iter().take(most).map(|one| Some(page(one))).collect();
        Self { first, total: pages.len(), is_doubled: false }
    }
}

fn is_tree(dict: &Dict<'_>) -> bool {
    match dict.get::<Name<'_>>("Type") {
        Some(name) => name.as_str() == "Pages",
        None => dict.contains_key("Kids"),
    }
}
