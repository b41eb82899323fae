//! Cycles of a directed graph, given as a list of edges for each node number.

/// The strongly connected components (Tarjan). Iterative, because a chain can be as long as the graph.
pub fn strongly_connected(graph: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut order, mut low, mut on_path) = (vec![NEW; graph.len()], vec![0; graph.len()], vec![false; graph.len()]);
    let (mut path, mut components, mut next) = (Vec::new(), Vec::new(), 0);
    for start in 0..graph.len() {
        if order[start] != NEW {
            continue;
        }
        let mut open: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((node, edge)) = open.pop() {
            if edge == 0 {
                (order[node], low[node]) = (next, next);
                next += 1;
                path.push(node);
                on_path[node] = true;
            }
            if let Some(to) = graph[node].get(edge).copied() {
                open.push((node, edge + 1));
                if order[to] == NEW {
                    open.push((to, 0));
                } else if on_path[to] {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            if low[node] == order[node] {
                let at = path.iter().rposition(|on| *on == node).unwrap_or(0);
                let component = path.split_off(at);
                component.iter().for_each(|one| on_path[*one] = false);
                components.push(component);
            }
            if let Some((above, _)) = open.last() {
                low[*above] = low[*above].min(low[node]);
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_what_reaches_itself() {
        let graph = vec![vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![5], vec![0]];
        let mut found: Vec<Vec<usize>> = strongly_connected(&graph)
            .into_iter()
            .map(|mut component| {
                component.sort_unstable();
                component
            })
            .collect();
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4], vec![5], vec![6]]);
        let chain: Vec<Vec<usize>> = (0..100_000).map(|at| vec![(at + 1) % 100_000]).collect();
        assert_eq!(strongly_connected(&chain).len(), 1);
    }
}
