//! Fields of the uniform that are compiled in: numbers and vectors where they are read, arrays as constants. The compiler then unrolls the loops that run
//! to them. A copy of the uniform with these fields set would not do: an index that varies keeps the whole of it in memory.

use naga::{AddressSpace, ArraySize, Expression, Handle, Scalar, StructMember, Type, TypeInner};

use super::statement::Body;
use super::types::safe;
use super::{Printer, unsupported};
use crate::error::Result;

impl Printer<'_> {
    /// The words of a field of the uniform, if it is compiled in.
    fn words_of(&self, member: &StructMember) -> Option<&[u32]> {
        let (words, fields) = self.form.constants?;
        let is_one = member.name.as_deref().is_some_and(|name| fields.contains(&name));
        is_one.then(|| &words[member.offset as usize / 4..])
    }

    fn array_name(uniform: &str, member: &StructMember) -> String {
        format!("{uniform}_{}", safe(member.name.as_deref().unwrap_or("member")))
    }

    /// The arrays among them.
    pub(super) fn compiled_in_arrays(&self) -> Result<String> {
        let mut text = String::new();
        for (handle, global) in self.in_space(AddressSpace::Uniform) {
            let TypeInner::Struct { members, .. } = &self.module.types[global.ty].inner else { continue };
            for member in members {
                if let Some(words) = self.words_of(member).filter(|_| !self.is_inline(member.ty)) {
                    let (ty, name) = (self.type_name(member.ty)?, Self::array_name(&self.global_name(handle), member));
                    text += &format!("__constant__ const {ty} {name} = {};\n", self.value(member.ty, words)?);
                }
            }
        }
        Ok(text)
    }

    /// A value of unsigned integers from its words.
    fn value(&self, ty: Handle<Type>, words: &[u32]) -> Result<String> {
        let list = |words: &[u32]| words.iter().map(|word| format!("{word}u")).collect::<Vec<_>>().join(", ");
        match self.module.types[ty].inner {
            TypeInner::Scalar(Scalar::U32) => Ok(list(&words[..1])),
            TypeInner::Vector { size, scalar: Scalar::U32 } => {
                Ok(format!("{}{{{}}}", self.type_name(ty)?, list(&words[..size as usize])))
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
                let items = words.chunks(stride as usize / 4).take(count.get() as usize);
                let items = items.map(|words| self.value(base, words)).collect::<Result<Vec<_>>>()?;
                Ok(format!("{}{{{{{}}}}}", self.type_name(ty)?, items.join(", ")))
            }
            ref other => Err(unsupported(format!("a size of type {other:?}"))),
        }
    }
}

impl Body<'_> {
    /// The text of a field of the uniform, if `base` is the uniform and the field is compiled in.
    pub(super) fn compiled_in(&self, base: Handle<Expression>, index: u32) -> Result<Option<String>> {
        let Expression::GlobalVariable(global) = self.function.expressions[base] else { return Ok(None) };
        let uniform = &self.printer.module.global_variables[global];
        let TypeInner::Struct { members, .. } = &self.printer.module.types[uniform.ty].inner else { return Ok(None) };
        let member = &members[index as usize];
        let Some(words) = self.printer.words_of(member).filter(|_| uniform.space == AddressSpace::Uniform) else {
            return Ok(None);
        };
        if self.printer.is_inline(member.ty) {
            return self.printer.value(member.ty, words).map(Some);
        }
        Ok(Some(Printer::array_name(&self.printer.global_name(global), member)))
    }
}
