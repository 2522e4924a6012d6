//! Expressions. A pointer is printed as the place it points to, so that a load is its text and a store an assignment to it.

use naga::{
    AddressSpace, ArraySize, BinaryOperator as Op, Expression, Handle, Literal, Scalar, ScalarKind, SwizzleComponent,
    TypeInner, UnaryOperator, VectorSize,
};

use super::body::Body;
use super::constant::{literal, splat};
use super::math;
use super::names::safe;
use super::printed::Guards;
use super::refusal::unsupported;
use super::types::scalar_name;
use crate::error::Result;

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Body<'_> {
    /// An expression that is evaluated here, or the name of the variable that holds its value.
    pub(super) fn expression(&self, handle: Handle<Expression>) -> Result<String> {
        match self.held_name(handle) {
            Some(name) => Ok(name),
            None => self.evaluated(handle),
        }
    }

    pub(super) fn evaluated(&self, handle: Handle<Expression>) -> Result<String> {
        let part = |handle| self.expression(handle);
        Ok(match &self.function.expressions[handle] {
            Expression::Literal(value) => literal(*value)?,
            Expression::Constant(handle) => self.printer.constant(*handle)?,
            Expression::ZeroValue(ty) => format!("{}{{}}", self.printer.type_name(*ty)?),
            Expression::Splat { size, value } => splat(*size, &part(*value)?),
            Expression::Compose { ty, components } => {
                let parts = components.iter().map(|&component| part(component)).collect::<Result<Vec<_>>>()?;
                self.printer.composed(*ty, &parts)?
            }
            Expression::Swizzle { size, vector, pattern } => swizzle(*size, &part(*vector)?, *pattern),
            Expression::FunctionArgument(at) => {
                let name = self.argument(*at);
                if is_pointer(self.inner(handle)) { format!("(*{name})") } else { name }
            }
            Expression::GlobalVariable(global) => self.global(*global),
            Expression::LocalVariable(local) => self.local(*local),
            Expression::Load { pointer } => part(*pointer)?,
            Expression::Access { base, index } => self.access(*base, *index)?,
            Expression::AccessIndex { base, index } => self.access_index(*base, *index)?,
            Expression::Unary { op, expr } => self.unary(*op, *expr)?,
            Expression::Binary { op, left, right } => self.binary(*op, *left, *right)?,
            Expression::Select { condition, accept, reject } => {
                let [condition, accept, reject] = [part(*condition)?, part(*accept)?, part(*reject)?];
                format!("wgsl::select({condition}, {accept}, {reject})")
            }
            Expression::Relational { fun, argument } => {
                let name = match fun {
                    naga::RelationalFunction::All => "all",
                    naga::RelationalFunction::Any => "any",
                    other => return Err(unsupported(format!("the function {other:?}"))),
                };
                format!("wgsl::{name}({})", part(*argument)?)
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments = [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten();
                let arguments = arguments.map(part).collect::<Result<Vec<_>>>()?;
                format!("wgsl::{}({})", math::name(*fun)?, arguments.join(", "))
            }
            Expression::As { expr, kind, convert } => {
                let name = conversion(*kind, *convert)?;
                format!("wgsl::{name}({})", part(*expr)?)
            }
            Expression::ArrayLength(pointer) => self.array_length(*pointer)?,
            other => return Err(unsupported(format!("the expression {other:?}"))),
        })
    }

    /// What an expression's value is; for a pointer, what a pointer to it is.
    pub(super) fn inner(&self, handle: Handle<Expression>) -> &TypeInner {
        self.info[handle].ty.inner_with(&self.printer.module.types)
    }

    /// The type behind a value or a pointer.
    fn pointee(&self, handle: Handle<Expression>) -> TypeInner {
        match *self.inner(handle) {
            TypeInner::Pointer { base, .. } => self.printer.module.types[base].inner.clone(),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => TypeInner::Vector { size, scalar },
            TypeInner::ValuePointer { size: None, scalar, .. } => TypeInner::Scalar(scalar),
            ref other => other.clone(),
        }
    }

    fn global(&self, handle: Handle<naga::GlobalVariable>) -> String {
        let global = &self.printer.module.global_variables[handle];
        let name = self.printer.global_name(handle);
        let is_list =
            matches!(self.printer.module.types[global.ty].inner, TypeInner::Array { size: ArraySize::Dynamic, .. });
        let is_storage = matches!(global.space, AddressSpace::Storage { .. });
        match global.space {
            AddressSpace::WorkGroup => format!("shared_memory().{name}"),
            _ if is_storage && !is_list => format!("(*{name})"),
            _ => name,
        }
    }

    fn access(&self, base: Handle<Expression>, index: Handle<Expression>) -> Result<String> {
        let (text, mut place) = (self.expression(base)?, self.expression(index)?);
        let inner = self.pointee(base);
        if self.printer.form.guards == Guards::Indices {
            let count = match &inner {
                TypeInner::Array { size: ArraySize::Constant(count), .. } => format!("{count}u"),
                TypeInner::Array { .. } => self.array_length(base)?,
                TypeInner::Vector { size, .. } | TypeInner::Matrix { columns: size, .. } => format!("{}u", *size as u8),
                other => return Err(unsupported(format!("an item of {other:?}"))),
            };
            place = format!("wgsl::inside(static_cast<u32>({place}), {count})");
        }
        Ok(match inner {
            TypeInner::Vector { .. } if !is_pointer(self.inner(base)) => format!("wgsl::pick({text}, {place})"),
            _ => format!("{text}[{place}]"),
        })
    }

    fn access_index(&self, base: Handle<Expression>, index: u32) -> Result<String> {
        let text = self.expression(base)?;
        Ok(match &self.pointee(base) {
            TypeInner::Vector { .. } => format!("{text}.{}", COMPONENTS[index as usize]),
            TypeInner::Struct { members, .. } => {
                let name = members[index as usize].name.as_deref().unwrap_or("member");
                format!("{text}.{}", safe(name))
            }
            _ => format!("{text}[{index}u]"),
        })
    }

    /// The number of items of a storage buffer that is an array of any length.
    fn array_length(&self, pointer: Handle<Expression>) -> Result<String> {
        let Expression::GlobalVariable(global) = self.function.expressions[pointer] else {
            return Err(unsupported("the length of an array inside a struct"));
        };
        let ty = self.printer.module.global_variables[global].ty;
        let TypeInner::Array { stride, .. } = self.printer.module.types[ty].inner else {
            return Err(unsupported("the length of what is not an array"));
        };
        Ok(format!("({}_bytes / {stride}u)", self.printer.global_name(global)))
    }

    fn unary(&self, op: UnaryOperator, expr: Handle<Expression>) -> Result<String> {
        let text = self.expression(expr)?;
        let is_scalar = matches!(self.inner(expr), TypeInner::Scalar(_));
        Ok(match op {
            UnaryOperator::Negate => format!("wgsl::negate({text})"),
            UnaryOperator::LogicalNot if is_scalar => format!("!({text})"),
            UnaryOperator::LogicalNot => format!("wgsl::logical_not({text})"),
            UnaryOperator::BitwiseNot if is_scalar => format!("~({text})"),
            UnaryOperator::BitwiseNot => format!("wgsl::bit_not({text})"),
        })
    }

    fn binary(&self, op: Op, left: Handle<Expression>, right: Handle<Expression>) -> Result<String> {
        if op == Op::Add
            && let Some(sum) = self.sum_with_product(left, right)?
        {
            return Ok(sum);
        }
        let [a, b] = [self.expression(left)?, self.expression(right)?];
        let (name, sign) = operator(op);
        let call = format!("wgsl::{name}({a}, {b})");
        let (TypeInner::Scalar(scalar), TypeInner::Scalar(_)) = (self.inner(left), self.inner(right)) else {
            return Ok(call);
        };
        let infix = format!("({a} {sign} {b})");
        let number = match self.function.expressions[right] {
            Expression::Literal(Literal::U32(number)) => Some(number),
            _ => None,
        };
        // A divisor that is not 0 and a shift below 32 need no guard.
        let is_safe = match op {
            Op::Divide | Op::Modulo => number.is_some_and(|number| number > 0),
            _ => number.is_some_and(|number| number < 32),
        };
        Ok(match (op, scalar.kind, scalar.width) {
            (Op::And, ScalarKind::Bool, _) => format!("({a} && {b})"),
            (Op::InclusiveOr, ScalarKind::Bool, _) => format!("({a} || {b})"),
            (Op::ExclusiveOr, ScalarKind::Bool, _) => format!("({a} != {b})"),
            (Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Modulo, ScalarKind::Float, 2)
            | (Op::Add | Op::Subtract | Op::Multiply, ScalarKind::Sint, _)
            | (Op::Modulo, ScalarKind::Float, _) => call,
            (_, ScalarKind::Float, 2) => return Err(unsupported("a comparison of f16")),
            (Op::Divide | Op::Modulo | Op::ShiftLeft | Op::ShiftRight, ScalarKind::Sint | ScalarKind::Uint, _)
                if scalar.kind == ScalarKind::Sint || !is_safe =>
            {
                call
            }
            _ => infix,
        })
    }
}

impl Body<'_> {
    /// What is added to a product with a matrix, as multiplications that add: the compiler may not reorder sums by itself.
    fn sum_with_product(&self, left: Handle<Expression>, right: Handle<Expression>) -> Result<Option<String>> {
        for (sum, product) in [(left, right), (right, left)] {
            let Expression::Binary { op: Op::Multiply, left: a, right: b } = self.function.expressions[product] else {
                continue;
            };
            let is_matrix = matches!(self.inner(a), TypeInner::Matrix { .. });
            let is_column = matches!(self.inner(b), TypeInner::Matrix { .. } | TypeInner::Vector { .. });
            if is_matrix && is_column && self.held_name(product).is_none() {
                let [sum, a, b] = [self.expression(sum)?, self.expression(a)?, self.expression(b)?];
                return Ok(Some(format!("wgsl::multiply_add({a}, {b}, {sum})")));
            }
        }
        Ok(None)
    }
}

pub(super) fn is_pointer(inner: &TypeInner) -> bool {
    matches!(inner, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. })
}

fn swizzle(size: VectorSize, vector: &str, pattern: [SwizzleComponent; 4]) -> String {
    let places: Vec<_> = pattern[..size as usize].iter().map(|&component| (component as u8).to_string()).collect();
    format!("wgsl::swizzle<{}>({vector})", places.join(", "))
}

fn conversion(kind: ScalarKind, convert: Option<naga::Bytes>) -> Result<&'static str> {
    let name = convert.map(|width| scalar_name(Scalar { kind, width })).transpose()?;
    Ok(match (name, kind) {
        (Some("f32"), _) => "to_f32",
        (Some("i32"), _) => "to_i32",
        (Some("u32"), _) => "to_u32",
        (Some("bool"), _) => "to_bool",
        (Some(_), _) => "to_half",
        (None, ScalarKind::Float) => "as_f32",
        (None, ScalarKind::Sint) => "as_i32",
        (None, ScalarKind::Uint) => "as_u32",
        (None, other) => return Err(unsupported(format!("a bitcast to {other:?}"))),
    })
}

/// The prelude's function and the sign of an operation.
fn operator(op: Op) -> (&'static str, &'static str) {
    match op {
        Op::Add => ("add", "+"),
        Op::Subtract => ("subtract", "-"),
        Op::Multiply => ("multiply", "*"),
        Op::Divide => ("divide", "/"),
        Op::Modulo => ("modulo", "%"),
        Op::Equal => ("equal", "=="),
        Op::NotEqual => ("not_equal", "!="),
        Op::Less => ("less", "<"),
        Op::LessEqual => ("less_equal", "<="),
        Op::Greater => ("greater", ">"),
        Op::GreaterEqual => ("greater_equal", ">="),
        Op::And => ("bit_and", "&"),
        Op::ExclusiveOr => ("bit_xor", "^"),
        Op::InclusiveOr => ("bit_or", "|"),
        Op::LogicalAnd => ("logical_and", "&&"),
        Op::LogicalOr => ("logical_or", "||"),
        Op::ShiftLeft => ("shift_left", "<<"),
        Op::ShiftRight => ("shift_right", ">>"),
    }
}
