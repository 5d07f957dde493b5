//! Finds strongly connected components (Tarjan 1972), with its own stack.
//!
//! In:  successors of each of n vertices.
//! Out: the component number of each vertex, and the members of each component.
//!
//! **Invariant:** components are numbered in reverse topological order: whatever a component
//! leads to has a lower number.

/// Components of a directed graph.
pub(super) struct Components {
    /// By vertex.
    pub of: Vec<u32>,
    /// By component.
    pub members: Vec<Vec<u32>>,
}

/// Finds the components.
pub(super) fn components(n: usize, successors: impl Fn(u32) -> Vec<u32>) -> Components {
    const UNSEEN: u32 = u32::MAX;
    let mut number = vec![UNSEEN; n];
    let mut low = vec![0u32; n];
    let mut of = vec![UNSEEN; n];
    let mut members: Vec<Vec<u32>> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut next = 0;
    let mut calls: Vec<(u32, Vec<u32>)> = Vec::new();
    for root in 0..n as u32 {
        if number[root as usize] != UNSEEN {
            continue;
        }
        let mut enter = |v: u32, number: &mut Vec<u32>, low: &mut Vec<u32>, open: &mut Vec<u32>| {
            number[v as usize] = next;
            low[v as usize] = next;
            next += 1;
            open.push(v);
            (v, successors(v))
        };
        calls.push(enter(root, &mut number, &mut low, &mut open));
        while let Some((v, rest)) = calls.last_mut() {
            let v = *v;
            if let Some(w) = rest.pop() {
                if number[w as usize] == UNSEEN {
                    let call = enter(w, &mut number, &mut low, &mut open);
                    calls.push(call);
                } else if of[w as usize] == UNSEEN {
                    low[v as usize] = low[v as usize].min(number[w as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                low[*parent as usize] = low[*parent as usize].min(low[v as usize]);
            }
            if low[v as usize] == number[v as usize] {
                let mut component = Vec::new();
                loop {
                    let w = open.pop().expect("the root of a component is still open");
                    of[w as usize] = members.len() as u32;
                    component.push(w);
                    if w == v {
                        break;
                    }
                }
                members.push(component);
            }
        }
    }
    Components { of, members }
}
