//! Graphs on subsystems or signals: strongly connected components in the order of the arrows.

/// A directed graph on `0..nodes`, as lists of targets in one array.
#[derive(Clone, Debug)]
pub struct Graph {
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Graph {
    /// The graph with these arrows (from, to).
    pub fn new(nodes: usize, arrows: &[(usize, usize)]) -> Self {
        let mut starts = vec![0; nodes + 1];
        for (from, _) in arrows {
            starts[from + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; arrows.len()];
        for (from, to) in arrows {
            targets[next[*from]] = *to;
            next[*from] += 1;
        }
        Self { starts, targets }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where the arrows of a node lead.
    pub fn targets(&self, node: usize) -> &[usize] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }

    /// Strongly connected components, sources first: every arrow between two components points forward.
    /// The nodes of a component are in rising order. Tarjan's algorithm without recursion, so that a chain of
    /// a million subsystems does not overflow the stack.
    pub fn components(&self) -> Vec<Vec<usize>> {
        const UNSEEN: usize = usize::MAX;
        let n = self.nodes();
        let (mut index, mut low) = (vec![UNSEEN; n], vec![0; n]);
        let (mut on_stack, mut stack, mut work) = (vec![false; n], Vec::new(), Vec::new());
        let (mut counter, mut components) = (0, Vec::new());
        // From the last node down: the reversal at the end then keeps unconnected nodes in rising order.
        for root in (0..n).rev() {
            if index[root] != UNSEEN {
                continue;
            }
            work.push((root, 0));
            while let Some((node, next)) = work.pop() {
                if next == 0 {
                    index[node] = counter;
                    low[node] = counter;
                    counter += 1;
                    stack.push(node);
                    on_stack[node] = true;
                }
                if let Some(&target) = self.targets(node).get(next) {
                    work.push((node, next + 1));
                    if index[target] == UNSEEN {
                        work.push((target, 0));
                    } else if on_stack[target] {
                        low[node] = low[node].min(index[target]);
                    }
                    continue;
                }
                if let Some(&(parent, _)) = work.last() {
                    low[parent] = low[parent].min(low[node]);
                }
                if low[node] == index[node] {
                    let start = stack.iter().rposition(|member| *member == node).unwrap_or(0);
                    let mut component = stack.split_off(start);
                    component.iter().for_each(|member| on_stack[*member] = false);
                    component.sort_unstable();
                    components.push(component);
                }
            }
        }
        components.reverse();
        components
    }

    /// Whether a component is a loop: more than one node, or a node with an arrow to itself.
    pub fn is_loop(&self, component: &[usize]) -> bool {
        component.len() > 1 || self.targets(component[0]).contains(&component[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_found_and_ordered_along_the_arrows() {
        let graph = Graph::new(5, &[(4, 2), (2, 3), (3, 2), (0, 4), (3, 1)]);
        assert_eq!(graph.components(), [vec![0], vec![4], vec![2, 3], vec![1]]);
        assert!(graph.is_loop(&[2, 3]));
        assert!(!graph.is_loop(&[4]));
        assert!(Graph::new(1, &[(0, 0)]).is_loop(&[0]));
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let arrows: Vec<_> = (0..200_000).map(|i| (i, i + 1)).collect();
        let components = Graph::new(200_001, &arrows).components();
        assert!(components.iter().enumerate().all(|(i, component)| component == &[i]));
    }
}
