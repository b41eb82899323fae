//! The pages of a PDF, in their order: a tree, by what its nodes say of themselves.
//!
//! Owns the walk. How many pages a node says that it has is not believed, nor that the tree is one.

use std::collections::HashSet;

use ::pdf::PdfError;
use ::pdf::object::{Page, PageTree, PagesNode, RcRef, Resolve};

/// What a tree of pages leads to.
pub(super) struct Pages {
    /// In order; of those that cannot be read, why.
    pub first: Vec<Result<RcRef<PagesNode>, PdfError>>,
    /// With those that are too many to be kept.
    pub total: usize,
    /// Whether it leads to a part of itself a second time, as in a circle.
    pub is_doubled: bool,
}

impl Pages {
    /// The first `most` pages below `root`, each part of the tree once.
    pub fn of(root: &PageTree, resolver: &impl Resolve, most: usize) -> Self {
        let mut found = Self { first: Vec::new(), total: 0, is_doubled: false };
        // A node is read once, and kept in one place as long as the file.
        let mut entered = HashSet::from([std::ptr::from_ref(root)]);
        let mut open = vec![root.kids.clone().into_iter()];
        while let Some(kids) = open.last_mut() {
            let Some(kid) = kids.next() else {
                open.pop();
                continue;
            };
            let node = resolver.get(kid);
            if let Ok(PagesNode::Tree(tree)) = node.as_deref() {
                if entered.insert(std::ptr::from_ref(tree)) {
                    open.push(tree.kids.clone().into_iter());
                } else {
                    found.is_doubled = true;
                }
                continue;
            }
            found.total += 1;
            if found.first.len() < most {
                found.first.push(node);
            }
        }
        found
    }
}

pub(super) fn leaf(node: &PagesNode) -> Option<&Page> {
    if let PagesNode::Leaf(page) = node { Some(page) } else { None }
}
