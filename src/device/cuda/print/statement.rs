//! Functions and statements. Values that are named, loaded or used more than once become variables, where naga says they are evaluated.

use naga::{AtomicFunction, Barrier, Binding, Block, BuiltIn, Expression, GatherMode, Handle, Statement, SwitchValue};

use super::body::Body;
use super::expression::is_pointer;
use super::names::function_name;
use super::refusal::unsupported;
use crate::error::Result;

impl Body<'_> {
    /// A function that others call.
    pub(super) fn function(mut self, name: &str) -> Result<String> {
        let mut arguments = Vec::new();
        for (at, argument) in self.function.arguments.iter().enumerate() {
            arguments.push(self.printer.declared(argument.ty, &self.argument(at as u32))?);
        }
        let result = match &self.function.result {
            Some(result) => self.printer.type_name(result.ty)?,
            None => "void".to_owned(),
        };
        let specifier = if self.printer.uses_members(self.info) { "WGSL_FN" } else { "__device__ inline" };
        self.line(&format!("{specifier} {result} {name}({}) {{", arguments.join(", ")));
        self.finish()
    }

    /// The kernel itself, with the built-in values that it takes.
    pub(super) fn entry(mut self, size: [u32; 3]) -> Result<String> {
        self.line("WGSL_FN void run(wgsl::vec<u32, 3> wgsl_group, wgsl::vec<u32, 3> wgsl_groups) {");
        self.depth += 1;
        for (at, argument) in self.function.arguments.iter().enumerate() {
            let Some(Binding::BuiltIn(built_in)) = argument.binding else {
                return Err(unsupported("an argument of the kernel that is not a built-in value"));
            };
            let declared = self.printer.declared(argument.ty, &self.argument(at as u32))?;
            self.line(&format!("const {declared} = {};", built_in_value(built_in, size)?));
        }
        self.depth -= 1;
        self.finish()
    }

    /// The variables, the statements and the closing brace.
    fn finish(mut self) -> Result<String> {
        self.depth += 1;
        for (handle, local) in self.function.local_variables.iter() {
            let declared = self.printer.declared(local.ty, &self.local(handle))?;
            let value = match local.init {
                Some(value) => format!(" = {}", self.expression(value)?),
                None => "{}".to_owned(),
            };
            self.line(&format!("{declared}{value};"));
        }
        self.block(&self.function.body)?;
        self.depth -= 1;
        self.line("}");
        Ok(self.text)
    }

    fn indented(&mut self, block: &Block) -> Result<()> {
        self.depth += 1;
        self.block(block)?;
        self.depth -= 1;
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Emit(range) => range.clone().try_for_each(|handle| self.emit(handle))?,
            Statement::Block(block) => {
                self.line("{");
                self.indented(block)?;
                self.line("}");
            }
            Statement::If { condition, accept, reject } => {
                let condition = self.expression(*condition)?;
                self.line(&format!("if ({condition}) {{"));
                self.indented(accept)?;
                if !reject.is_empty() {
                    self.line("} else {");
                    self.indented(reject)?;
                }
                self.line("}");
            }
            Statement::Switch { selector, cases } => self.switch(*selector, cases)?,
            Statement::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if)?,
            Statement::Break => self.line("break;"),
            Statement::Continue => self.go_on()?,
            Statement::Return { value: None } => self.line("return;"),
            Statement::Return { value: Some(value) } => {
                let value = self.expression(*value)?;
                self.line(&format!("return {value};"));
            }
            Statement::ControlBarrier(barrier) => {
                let is_of_warp = *barrier == Barrier::SUB_GROUP;
                let of_block = self.printer.barrier();
                self.line(if is_of_warp { "__syncwarp();" } else { &of_block });
            }
            Statement::MemoryBarrier(_) => self.line("__threadfence_block();"),
            Statement::Store { pointer, value } => {
                let [place, value] = [self.expression(*pointer)?, self.expression(*value)?];
                self.line(&format!("{place} = {value};"));
            }
            Statement::Call { function, arguments, result } => {
                let arguments = arguments.iter().map(|&argument| self.passed(argument)).collect::<Result<Vec<_>>>()?;
                let name = function_name(&self.printer.module.functions[*function]);
                self.give(*result, &format!("{name}({})", arguments.join(", ")))?;
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let [place, value] = [self.expression(*pointer)?, self.expression(*value)?];
                let name = atomic(*fun)?;
                self.give(*result, &format!("{name}(&{place}, {value})"))?;
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let place = self.expression(*pointer)?;
                let barrier = self.printer.barrier();
                self.line(&barrier);
                self.give(Some(*result), &place)?;
                self.line(&barrier);
            }
            Statement::SubgroupGather { mode: GatherMode::ShuffleXor(mask), argument, result } => {
                let [value, mask] = [self.expression(*argument)?, self.expression(*mask)?];
                self.give(Some(*result), &format!("wgsl::shuffle_xor({value}, {mask})"))?;
            }
            other => return Err(unsupported(format!("the statement {other:?}"))),
        }
        Ok(())
    }

    /// Evaluates an expression here if its value is needed as a variable.
    fn emit(&mut self, handle: Handle<Expression>) -> Result<()> {
        if is_pointer(self.inner(handle)) {
            return Ok(());
        }
        let is_load = matches!(self.function.expressions[handle], Expression::Load { .. });
        let is_named = self.function.named_expressions.contains_key(&handle);
        if is_load || is_named || self.info[handle].ref_count > 1 {
            let value = self.evaluated(handle)?;
            self.hold(handle, &value)?;
        }
        Ok(())
    }

    /// A call whose result may be used.
    fn give(&mut self, result: Option<Handle<Expression>>, call: &str) -> Result<()> {
        if let Some(result) = result {
            return self.hold(result, call);
        }
        self.line(&format!("{call};"));
        Ok(())
    }

    /// An argument of a call: a pointer is passed as one.
    fn passed(&self, argument: Handle<Expression>) -> Result<String> {
        let text = self.expression(argument)?;
        Ok(if is_pointer(self.inner(argument)) { format!("&{text}") } else { text })
    }

    fn switch(&mut self, selector: Handle<Expression>, cases: &[naga::SwitchCase]) -> Result<()> {
        let selector = self.expression(selector)?;
        self.line(&format!("switch ({selector}) {{"));
        for case in cases {
            let label = match case.value {
                SwitchValue::I32(value) => format!("case {value}:"),
                SwitchValue::U32(value) => format!("case {value}u:"),
                SwitchValue::Default => "default:".to_owned(),
            };
            self.line(&format!("{label} {{"));
            self.indented(&case.body)?;
            if !case.fall_through {
                self.depth += 1;
                self.line("break;");
                self.depth -= 1;
            }
            self.line("}");
        }
        self.line("}");
        Ok(())
    }

    /// A loop. What follows its body runs after `continue` as well, which therefore is a jump there.
    fn repeat(&mut self, body: &Block, continuing: &Block, break_if: Option<Handle<Expression>>) -> Result<()> {
        self.loop_count += 1;
        let number = self.loop_count;
        self.loops.push((number, false));
        if self.printer.form.unrolls {
            // With known sizes nearly all loops have known lengths. Fully unrolled, their loads overlap: measured in docs/PERFORMANCE.md.
            self.line("#pragma unroll");
        }
        self.line("for (;;) {");
        let start = self.text.len();
        self.indented(body)?;
        let is_continued = self.loops.pop().is_some_and(|(_, is_continued)| is_continued);
        self.depth += 1;
        if is_continued {
            // A jump may not pass the declaration of a variable that is still visible where it ends.
            let indent = "    ".repeat(self.depth);
            self.text.insert_str(start, &format!("{indent}{{\n"));
            self.line("}");
            self.line(&format!("next_{number}:;"));
        }
        self.block(continuing)?;
        if let Some(condition) = break_if {
            let condition = self.expression(condition)?;
            self.line(&format!("if ({condition}) break;"));
        }
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn go_on(&mut self) -> Result<()> {
        let Some((number, is_continued)) = self.loops.last_mut() else {
            return Err(unsupported("`continue` outside a loop"));
        };
        *is_continued = true;
        let jump = format!("goto next_{number};");
        self.line(&jump);
        Ok(())
    }
}

fn atomic(function: AtomicFunction) -> Result<&'static str> {
    Ok(match function {
        AtomicFunction::Add => "atomicAdd",
        AtomicFunction::Subtract => "atomicSub",
        AtomicFunction::And => "atomicAnd",
        AtomicFunction::ExclusiveOr => "atomicXor",
        AtomicFunction::InclusiveOr => "atomicOr",
        AtomicFunction::Min => "atomicMin",
        AtomicFunction::Max => "atomicMax",
        AtomicFunction::Exchange { compare: None } => "atomicExch",
        AtomicFunction::Exchange { compare: Some(_) } => return Err(unsupported("an atomic compare and exchange")),
    })
}

/// A built-in value of a kernel whose groups have this size. Blocks have one dimension.
fn built_in_value(built_in: BuiltIn, [x, y, z]: [u32; 3]) -> Result<String> {
    let local =
        [format!("threadIdx.x % {x}u"), format!("threadIdx.x / {x}u % {y}u"), format!("threadIdx.x / {}u", x * y)];
    Ok(match built_in {
        BuiltIn::WorkGroupId => "wgsl_group".to_owned(),
        BuiltIn::NumWorkGroups => "wgsl_groups".to_owned(),
        BuiltIn::LocalInvocationIndex => "threadIdx.x".to_owned(),
        BuiltIn::LocalInvocationId => format!("{{{}}}", local.join(", ")),
        BuiltIn::GlobalInvocationId => {
            let sizes = [x, y, z];
            let place = |at: usize| format!("wgsl_group.{} * {}u + {}", ["x", "y", "z"][at], sizes[at], local[at]);
            format!("{{{}, {}, {}}}", place(0), place(1), place(2))
        }
        BuiltIn::SubgroupSize => "32u".to_owned(),
        BuiltIn::SubgroupInvocationId => "threadIdx.x % 32u".to_owned(),
        BuiltIn::SubgroupId => "threadIdx.x / 32u".to_owned(),
        other => return Err(unsupported(format!("the built-in value {other:?}"))),
    })
}
