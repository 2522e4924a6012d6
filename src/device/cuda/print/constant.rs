//! Constants, and values made of others.

use naga::{Arena, Expression, Handle, Literal, Type, TypeInner, VectorSize};

use super::names::safe;
use super::printer::Printer;
use super::refusal::unsupported;
use super::types::scalar_name;
use crate::error::Result;

impl Printer<'_> {
    /// Arrays and structs that are constants. Numbers and vectors are printed where they are used.
    pub(super) fn constants(&self) -> Result<String> {
        let mut text = String::new();
        for (_, constant) in self.module.constants.iter() {
            if self.is_inline(constant.ty) {
                continue;
            }
            let name = safe(constant.name.as_deref().unwrap_or("constant"));
            let (ty, value) = (self.type_name(constant.ty)?, self.constant_expression(constant.init)?);
            text += &format!("__constant__ const {ty} {name} = {value};\n");
        }
        Ok(text)
    }

    /// A constant, or an initial value of one, as an expression.
    pub(super) fn constant_expression(&self, handle: Handle<Expression>) -> Result<String> {
        constant(self, &self.module.global_expressions, handle)
    }

    pub(super) fn constant(&self, handle: Handle<naga::Constant>) -> Result<String> {
        let constant = &self.module.constants[handle];
        if self.is_inline(constant.ty) {
            return self.constant_expression(constant.init);
        }
        Ok(safe(constant.name.as_deref().unwrap_or("constant")))
    }

    /// A value of a composite type.
    pub(super) fn composed(&self, ty: Handle<Type>, parts: &[String]) -> Result<String> {
        let name = self.type_name(ty)?;
        let list = parts.join(", ");
        Ok(match &self.module.types[ty].inner {
            TypeInner::Vector { size, .. } if parts.len() == *size as usize => format!("{name}{{{list}}}"),
            TypeInner::Vector { size, scalar } => {
                format!("wgsl::join<{}, {}>({list})", scalar_name(*scalar)?, *size as u8)
            }
            TypeInner::Struct { members, .. } => {
                let with_gaps: Vec<_> = self.with_gaps(members);
                let values = with_gaps.iter().zip(parts).flat_map(|((_, gap), part)| {
                    let gap = (*gap > 0).then(|| "{}".to_owned());
                    gap.into_iter().chain([part.clone()])
                });
                format!("{name}{{{}}}", values.collect::<Vec<_>>().join(", "))
            }
            TypeInner::Matrix { .. } | TypeInner::Array { .. } => format!("{name}{{{{{list}}}}}"),
            other => return Err(unsupported(format!("a composite of type {other:?}"))),
        })
    }

    fn is_inline(&self, ty: Handle<Type>) -> bool {
        !matches!(self.module.types[ty].inner, TypeInner::Array { .. } | TypeInner::Struct { .. })
    }
}

/// An expression outside functions.
fn constant(printer: &Printer<'_>, arena: &Arena<Expression>, handle: Handle<Expression>) -> Result<String> {
    let part = |handle: Handle<Expression>| constant(printer, arena, handle);
    match &arena[handle] {
        Expression::Literal(value) => literal(*value),
        Expression::Constant(handle) => printer.constant(*handle),
        Expression::ZeroValue(ty) => Ok(format!("{}{{}}", printer.type_name(*ty)?)),
        Expression::Splat { size, value } => Ok(splat(*size, &part(*value)?)),
        Expression::Compose { ty, components } => {
            let parts = components.iter().map(|&component| part(component)).collect::<Result<Vec<_>>>()?;
            printer.composed(*ty, &parts)
        }
        other => Err(unsupported(format!("a constant {other:?}"))),
    }
}

pub(super) fn splat(size: VectorSize, value: &str) -> String {
    format!("wgsl::splat<{}>({value})", size as u8)
}

pub(super) fn literal(value: Literal) -> Result<String> {
    Ok(match value {
        Literal::F32(value) => format!("{value:?}f"),
        Literal::F16(value) => format!("wgsl::to_half({:?}f)", f32::from(value)),
        Literal::U32(value) => format!("{value}u"),
        // The smallest has no literal of its own in C++.
        Literal::I32(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        Literal::I32(value) => value.to_string(),
        Literal::Bool(value) => value.to_string(),
        other => return Err(unsupported(format!("the literal {other:?}"))),
    })
}
