//! The file formats `ckpt-graph/1` and `ckpt-plan/1`.
//!
//! A graph has nodes with one derivation each; node `i`'s result `r` is a value.
//! Input nodes are residents. See [`read_graph`] and [`write_plan`].

use crate::{Bytes, Derivation, DerivationId, Micros, Plan, Problem, ProblemError, Step, Value, ValueId};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct GraphFile {
    format: String,
    name: String,
    nodes: Vec<NodeFile>,
    outputs: Vec<(usize, usize)>,
    order: Vec<usize>,
}

#[derive(Deserialize)]
struct NodeFile {
    name: String,
    #[serde(default)]
    kind: String,
    time: f64,
    bytes: Vec<u64>,
    #[serde(default)]
    workspace: u64,
    #[serde(default)]
    inputs: Vec<(usize, usize)>,
    #[serde(default = "yes")]
    recomputable: bool,
    #[serde(default)]
    input: bool,
    #[serde(default)]
    alias: Option<usize>,
}

fn yes() -> bool {
    true
}

/// Why a graph file was refused.
#[derive(Debug, thiserror::Error)]
pub enum GraphFileError {
    /// Not JSON, or not of the format's shape; the message carries line and column.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// Another format or version.
    #[error("format is {0:?}, expected \"ckpt-graph/1\"")]
    Format(String),
    /// A reference to a node or result that does not exist.
    #[error("{what} refers to result {result} of node {node}, which does not exist")]
    BadReference {
        /// Where the reference stands.
        what: String,
        /// Index of the node.
        node: usize,
        /// Index of the result.
        result: usize,
    },
    /// An input node with inputs, time or an alias.
    #[error("input node {0} has inputs, time or an alias")]
    BadInputNode(usize),
    /// `order` does not list every node that is not an input exactly once.
    #[error("the order must list every non-input node exactly once (node {0})")]
    BadOrder(usize),
    /// The graph as a problem breaks an invariant.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

/// A problem read from a graph file, with the way back to the file's numbering.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The problem.
    pub problem: Problem,
    node_of: Vec<usize>,
    result_of: Vec<(usize, usize)>,
}

/// Reads `ckpt-graph/1` from JSON text. Linear in its size.
///
/// # Errors
/// See [`GraphFileError`].
pub fn read_graph(json: &[u8]) -> Result<Graph, GraphFileError> {
    let file: GraphFile = serde_json::from_slice(json)?;
    if file.format != "ckpt-graph/1" {
        return Err(GraphFileError::Format(file.format));
    }
    let mut first_value = Vec::with_capacity(file.nodes.len());
    let mut result_of = Vec::new();
    for (node, n) in file.nodes.iter().enumerate() {
        first_value.push(result_of.len());
        result_of.extend((0..n.bytes.len()).map(|result| (node, result)));
    }
    let value_at = |(node, result): (usize, usize), what: &dyn Fn() -> String| {
        let known = file.nodes.get(node).is_some_and(|n| result < n.bytes.len());
        if known {
            Ok(ValueId::new(first_value[node] + result))
        } else {
            Err(GraphFileError::BadReference { what: what(), node, result })
        }
    };
    let mut values = Vec::with_capacity(result_of.len());
    let mut derivations = Vec::new();
    let mut node_of = Vec::new();
    let mut derivation_of = vec![None; file.nodes.len()];
    for (index, node) in file.nodes.iter().enumerate() {
        let fresh = |&bytes| Value { name: node.name.clone(), bytes: Bytes(bytes), resident: node.input };
        values.extend(node.bytes.iter().map(fresh));
        if node.input {
            if !node.inputs.is_empty() || node.time != 0.0 || node.alias.is_some() {
                return Err(GraphFileError::BadInputNode(index));
            }
            continue;
        }
        let what = || format!("node {index} ({})", node.name);
        let inputs: Vec<ValueId> =
            node.inputs.iter().map(|&at| value_at(at, &what)).collect::<Result<_, _>>()?;
        let alias = match node.alias {
            None => None,
            Some(position) => match inputs.get(position) {
                Some(&base) => Some(base),
                None => {
                    return Err(GraphFileError::BadReference { what: what(), node: index, result: position });
                }
            },
        };
        derivation_of[index] = Some(DerivationId::new(derivations.len()));
        node_of.push(index);
        derivations.push(Derivation {
            name: node.name.clone(),
            kind: node.kind.clone(),
            outputs: (0..node.bytes.len()).map(|r| ValueId::new(first_value[index] + r)).collect(),
            inputs,
            time: Micros(node.time),
            workspace: Bytes(node.workspace),
            recomputable: node.recomputable,
            ordered: false,
            alias,
        });
    }
    let order = read_order(&file.order, &derivation_of, derivations.len())?;
    let outputs = file
        .outputs
        .iter()
        .map(|&at| value_at(at, &|| "the output list".to_owned()))
        .collect::<Result<_, _>>()?;
    let problem = Problem::new(file.name, values, derivations, order, outputs)?;
    Ok(Graph { problem, node_of, result_of })
}

fn read_order(
    order: &[usize],
    derivation_of: &[Option<DerivationId>],
    derivation_count: usize,
) -> Result<Vec<DerivationId>, GraphFileError> {
    let mut listed = vec![false; derivation_count];
    let mut read = Vec::with_capacity(order.len());
    for &node in order {
        match derivation_of.get(node).copied().flatten() {
            Some(id) if !listed[id.index()] => {
                listed[id.index()] = true;
                read.push(id);
            }
            _ => return Err(GraphFileError::BadOrder(node)),
        }
    }
    match derivation_of.iter().position(|d| d.is_some_and(|id| !listed[id.index()])) {
        Some(node) => Err(GraphFileError::BadOrder(node)),
        None => Ok(read),
    }
}

#[derive(Serialize)]
struct PlanFile<'a> {
    format: &'static str,
    graph: &'a str,
    steps: Vec<StepFile>,
    peak_bytes: u64,
    time_us: f64,
    lower_bound_time_us: f64,
    optimal: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum StepFile {
    Compute(&'static str, usize),
    Free(&'static str, usize, usize),
}

/// What a plan file says besides its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanFacts {
    /// Peak of the plan, residents excluded.
    pub peak: Bytes,
    /// Time of the plan.
    pub time: Micros,
    /// Proven for any legal plan within the budget.
    pub lower_bound: Micros,
    /// Whether the plan is proven optimal.
    pub optimal: bool,
}

/// Writes `ckpt-plan/1` for a plan of `graph`'s problem, as one line of JSON.
///
/// # Errors
/// Only if serialisation fails, which a finite time rules out.
pub fn write_plan(graph: &Graph, plan: &Plan, facts: PlanFacts) -> Result<String, serde_json::Error> {
    let step = |step: &Step| match *step {
        Step::Compute(id) => StepFile::Compute("compute", graph.node_of[id.index()]),
        Step::Free(value) => {
            let (node, result) = graph.result_of[value.index()];
            StepFile::Free("free", node, result)
        }
    };
    let mut text = serde_json::to_string(&PlanFile {
        format: "ckpt-plan/1",
        graph: graph.problem.name(),
        steps: plan.steps.iter().map(step).collect(),
        peak_bytes: facts.peak.0,
        time_us: facts.time.0,
        lower_bound_time_us: facts.lower_bound.0,
        optimal: facts.optimal,
    })?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReplayError, replay};

    /// A chain `a -> b -> c` whose last node reads both `a` and `b`, and a view of `b`.
    const CHAIN: &str = r#"{"format":"ckpt-graph/1","name":"chain","nodes":[
        {"name":"x","kind":"input","time":0,"bytes":[100],"inputs":[],"input":true},
        {"name":"a","kind":"op","time":1,"bytes":[10],"inputs":[[0,0]]},
        {"name":"b","kind":"op","time":2,"bytes":[20],"inputs":[[1,0]]},
        {"name":"w","kind":"view","time":0,"bytes":[0],"inputs":[[2,0]],"alias":0},
        {"name":"c","kind":"op","time":4,"bytes":[5],"workspace":7,"inputs":[[1,0],[3,0]]}],
        "outputs":[[4,0]],"order":[1,2,3,4]}"#;

    #[test]
    fn plan_without_remat_is_legal_and_exact() {
        let graph = read_graph(CHAIN.as_bytes()).unwrap();
        let plan = Plan::without_remat(&graph.problem);
        let replayed = replay(&graph.problem, &plan).unwrap();
        assert_eq!(replayed.peak, Bytes(10 + 20 + 5 + 7));
        assert_eq!(replayed.time, Micros(7.0));
        assert_eq!(replayed.final_bytes, Bytes(5));
        assert_eq!(replayed.recomputes, 0);
    }

    #[test]
    fn view_holds_the_storage_of_its_freed_base() {
        let graph = read_graph(CHAIN.as_bytes()).unwrap();
        let plan = Plan::without_remat(&graph.problem);
        let free_of_base = plan.steps.iter().position(|s| *s == Step::Free(ValueId::new(2)));
        let last_compute = plan.steps.iter().position(|s| *s == Step::Compute(DerivationId::new(3)));
        assert!(free_of_base < last_compute);
    }

    #[test]
    fn missing_input_is_refused() {
        let graph = read_graph(CHAIN.as_bytes()).unwrap();
        let plan = Plan { steps: vec![Step::Compute(DerivationId::new(1))] };
        let refusal = replay(&graph.problem, &plan).unwrap_err();
        assert!(matches!(refusal, ReplayError::InputNotLive { step: 0, .. }));
    }

    #[test]
    fn plan_file_uses_the_numbering_of_the_graph() {
        let graph = read_graph(CHAIN.as_bytes()).unwrap();
        let plan = Plan::without_remat(&graph.problem);
        let facts = PlanFacts { peak: Bytes(42), time: Micros(7.0), lower_bound: Micros(7.0), optimal: true };
        let text = write_plan(&graph, &plan, facts).unwrap();
        assert!(
            text.contains(r#""steps":[["compute",1],["compute",2],["compute",3],["free",2,0],["compute",4]"#),
            "{text}"
        );
    }

    #[test]
    fn bad_files_are_typed_errors() {
        assert!(matches!(read_graph(b"{"), Err(GraphFileError::Json(_))));
        let reordered = CHAIN.replace("[1,2,3,4]", "[2,1,3,4]");
        assert!(matches!(read_graph(reordered.as_bytes()), Err(GraphFileError::Problem(_))));
        let dangling = CHAIN.replace("[3,0]]", "[9,0]]");
        assert!(matches!(read_graph(dangling.as_bytes()), Err(GraphFileError::BadReference { .. })));
    }
}
