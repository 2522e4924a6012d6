//! A function while it is printed: its lines so far, its variables, and which expressions they hold.

use std::collections::HashSet;

use naga::valid::FunctionInfo;
use naga::{Expression, Function, Handle, LocalVariable};

use super::names::safe;
use super::printer::Printer;
use crate::error::Result;

/// A function while it is printed.
pub(super) struct Body<'a> {
    pub(super) printer: &'a Printer<'a>,
    pub(super) function: &'a Function,
    pub(super) info: &'a FunctionInfo,
    /// Expressions that are variables by now.
    held: HashSet<Handle<Expression>>,
    pub(super) text: String,
    pub(super) depth: usize,
    /// For each loop around the statement, outermost first, its number and whether it is continued.
    pub(super) loops: Vec<(usize, bool)>,
    pub(super) loop_count: usize,
}

impl<'a> Body<'a> {
    pub(super) fn new(printer: &'a Printer<'a>, function: &'a Function, info: &'a FunctionInfo) -> Self {
        let (text, held) = (String::new(), HashSet::new());
        Self { printer, function, info, held, text, depth: 0, loops: Vec::new(), loop_count: 0 }
    }

    pub(super) fn argument(&self, at: u32) -> String {
        safe(self.function.arguments[at as usize].name.as_deref().unwrap_or("argument"))
    }

    pub(super) fn local(&self, handle: Handle<LocalVariable>) -> String {
        let name = self.function.local_variables[handle].name.as_deref().unwrap_or("local");
        format!("{name}_v{}", handle.index())
    }

    /// The variable that holds an expression's value, if it is one by now.
    pub(super) fn held_name(&self, handle: Handle<Expression>) -> Option<String> {
        self.held.contains(&handle).then(|| self.variable(handle))
    }

    fn variable(&self, handle: Handle<Expression>) -> String {
        let name = self.function.named_expressions.get(&handle).map_or("e", String::as_str);
        format!("{name}_{}", handle.index())
    }

    /// Declares the variable of an expression, and from now on uses it.
    pub(super) fn hold(&mut self, handle: Handle<Expression>, value: &str) -> Result<()> {
        let ty = match &self.info[handle].ty {
            naga::proc::TypeResolution::Handle(ty) => self.printer.type_name(*ty)?,
            naga::proc::TypeResolution::Value(inner) => self.printer.inner_name(inner)?,
        };
        self.line(&format!("const {ty} {} = {value};", self.variable(handle)));
        self.held.insert(handle);
        Ok(())
    }

    pub(super) fn line(&mut self, text: &str) {
        self.text += &"    ".repeat(self.depth);
        self.text += text;
        self.text.push('\n');
    }
}
