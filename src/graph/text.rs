//! A graph as text, one line per node: `h = tanh(x @ w + b)   [rows, 32]`.

use std::sync::Arc;

use super::size::ROWS;
use super::{Graph, Input, Node, Size, op_record};
use crate::error::Result;
use crate::json::Json;
use crate::program::Curve;

/// More rows than the words of a mask have bits.
const MANY: usize = 2048;

impl Graph {
    /// The inputs, if they are not one of plain numbers. Then a line per node: the name of its value, its op, its shape, its block if it is in one; the nodes of a function inside it follow, indented, and what
    /// it returns. The output is the last line, unless another line says which values are outputs.
    pub fn lines(&self) -> Result<Vec<String>> {
        // A third number of rows shows what is no multiple of them.
        let [few, many, most] = [ROWS[0], ROWS[1], MANY].map(|rows| self.forms(rows, any_function));
        let (few, many, most) = (few?, many?, most?);
        let names = self.names();
        let mut lines = Vec::new();
        if self.inputs != Input::plain(self.width()) {
            lines.push(format!("inputs: {}", self.inputs.iter().map(Input::to_string).collect::<Vec<_>>().join(", ")));
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let value = self.before() + at;
            let sizes = few[value].sizes().iter().zip(many[value].sizes()).zip(most[value].sizes());
            let sizes = sizes.map(|((&few, &many), &most)| match Size::through(ROWS, [few, many]) {
                Some(size) if size.at(MANY).is_ok_and(|size| size == most) => size.to_string(),
                _ => "?".into(),
            });
            let shape: Vec<String> = sizes.collect();
            let block = if node.block.is_empty() { String::new() } else { format!("   {}", node.block) };
            lines.push(format!("{} = {}   [{}]{block}", names[value], said(node, &names)?, shape.join(", ")));
            inside(node, &names[value], &names, &mut lines)?;
        }
        let outputs: Vec<&str> = self.outputs.iter().map(|one| names[one.output].as_str()).collect();
        if outputs != names[names.len() - 1..] {
            lines.push(format!("outputs: {}", outputs.join(", ")));
        }
        Ok(lines)
    }

    /// A name for each value: the inputs' and the parameters' own, c0, c1, … for constants, v0, v1, … for nodes.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        names.extend(self.parameters.iter().map(|parameter| parameter.name.clone()));
        names.extend((0..self.constants.len()).map(|at| format!("c{at}")));
        names.extend((0..self.nodes.len()).map(|at| format!("v{at}")));
        names
    }
}

/// Shapes do not depend on which function an op takes.
#[expect(clippy::unnecessary_wraps, reason = "as reading an op takes it")]
fn any_function(text: &str) -> Result<Arc<Curve>> {
    Ok(Arc::new(Curve::build(text, 1, |x| x[0])))
}

/// The lines of the functions inside a node. Their arguments are named after it, and the names of what they use from outside stay.
fn inside(node: &Node, name: &str, names: &[String], lines: &mut Vec<String>) -> Result<()> {
    for (body, captured) in node.parts()?.1 {
        let own = body.arguments - body.captured;
        let mut inner: Vec<String> = (0..own).map(|at| format!("{name}.in{at}")).collect();
        inner.extend(captured.iter().map(|&value| names[value].clone()));
        inner.extend((0..body.nodes.len()).map(|at| format!("{name}.{at}")));
        for (at, node) in body.nodes.iter().enumerate() {
            let name = &inner[body.arguments + at];
            lines.push(format!("    {name} = {}", said(node, &inner)?));
            let mut deeper = Vec::new();
            inside(node, name, &inner, &mut deeper)?;
            lines.extend(deeper.into_iter().map(|line| format!("    {line}")));
        }
        let outputs: Vec<&str> = body.outputs.iter().map(|&value| inner[value].as_str()).collect();
        lines.push(format!("    returns {}", outputs.join(", ")));
    }
    Ok(())
}

fn said(node: &Node, names: &[String]) -> Result<String> {
    let inputs: Vec<&str> = node.parts()?.0.iter().map(|&value| names[value].as_str()).collect();
    let record = op_record(&node.op)?;
    if let Some(text) = record.text {
        return text(&node.attributes, &inputs);
    }
    let Json::Fields(fields) = &node.attributes else { return Ok(node.op.clone()) };
    let plain = fields.iter().filter(|(name, value)| name != "program" && *value != Json::Null);
    let attributes = plain.map(|(name, value)| match value {
        Json::List(sizes) => {
            let sizes =
                sizes.iter().map(|size| Size::from_json(size).map_or_else(|_| size.to_string(), |s| s.to_string()));
            format!("{name}=[{}]", sizes.collect::<Vec<_>>().join(", "))
        }
        other => format!("{name}={}", other.text().map_or_else(|| other.to_string(), str::to_owned)),
    });
    let arguments: Vec<String> = inputs.iter().map(|&input| input.to_owned()).chain(attributes).collect();
    Ok(format!("{}({})", node.op, arguments.join(", ")))
}
