//! Moves the nodes of a layered graph towards their neighbors: shorter edges, and no more empty space than necessary.
//!
//! Owns the positions along each layer. The layer of a node and the order in it are given. Each layer in turn moves as close
//! to its neighbors as order and gaps allow (isotonic regression).

/// Something in a layer: a box, or a point that an edge passes through.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Index of its layer.
    pub layer: usize,
    /// Coordinate along the layer: at first the index in the order, at the end the position.
    pub at: f64,
    /// Half of its width.
    pub half: f64,
    /// How strongly it resists being moved.
    pub weight: f64,
    /// Items that it shares an edge with.
    pub near: Vec<usize>,
}

/// Number of sweeps over the layers, back and forth. More sweeps make no visible difference.
const SWEEPS: usize = 30;

pub(super) fn settle(items: &mut [Item]) {
    let count = items.iter().map(|item| item.layer + 1).max().unwrap_or(0);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, item) in items.iter().enumerate() {
        layers[item.layer].push(at);
    }
    for layer in &mut layers {
        layer.sort_by(|a, b| items[*a].at.total_cmp(&items[*b].at).then(a.cmp(b)));
    }
    for sweep in 0..SWEEPS {
        for step in 0..count {
            let layer = &layers[if sweep % 2 == 0 { step } else { count - 1 - step }];
            arrange(items, layer);
        }
    }
}

/// One run of items that touch each other.
struct Block {
    pull: f64,
    weight: f64,
    items: usize,
}

fn arrange(items: &mut [Item], layer: &[usize]) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (position, &at) in layer.iter().enumerate() {
        if position > 0 {
            offset += items[layer[position - 1]].half + items[at].half;
        }
        offsets.push(offset);
        let item = &items[at];
        #[expect(clippy::cast_precision_loss, reason = "an item has few neighbors")]
        let count = item.near.len() as f64;
        let wanted = if item.near.is_empty() {
            item.at
        } else {
            item.near.iter().map(|near| items[*near].at).sum::<f64>() / count
        };
        blocks.push(Block { pull: (wanted - offset) * item.weight, weight: item.weight, items: 1 });
        // A block that pulls against the order joins the one before it.
        while let [.., before, last] = blocks.as_mut_slice() {
            if before.pull / before.weight <= last.pull / last.weight {
                break;
            }
            before.pull += last.pull;
            before.weight += last.weight;
            before.items += last.items;
            blocks.pop();
        }
    }
    let mut position = 0;
    for block in blocks {
        for _ in 0..block.items {
            items[layer[position]].at = block.pull / block.weight + offsets[position];
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_gaps_hold_and_ties_pull() {
        let item = |layer, at, near: &[usize]| Item { layer, at, half: 5.0, weight: 1.0, near: near.to_vec() };
        let mut items = vec![
            item(0, 0.0, &[3]),
            item(0, 1000.0, &[4]),
            item(0, 2000.0, &[4]),
            item(1, 0.0, &[0]),
            item(1, 3000.0, &[1, 2]),
        ];
        settle(&mut items);
        assert!(items[0].at + 10.0 <= items[1].at + 0.01 && items[1].at + 10.0 <= items[2].at + 0.01);
        assert!((items[0].at - items[3].at).abs() < 1.0);
        assert!((items[4].at - f64::midpoint(items[1].at, items[2].at)).abs() < 1.0);
        assert!((items[2].at - items[1].at - 10.0).abs() < 1.0, "no more space than needed");
    }
}
