//! Types and structs.

use naga::proc::{Alignment, Layouter};
use naga::{ArraySize, GlobalVariable, Handle, Scalar, ScalarKind, StorageAccess, StructMember, Type, TypeInner};

use super::names::safe;
use super::printer::Printer;
use super::refusal::{refused, unsupported};
use crate::error::Result;

impl Printer<'_> {
    /// The type of a value.
    pub(super) fn type_name(&self, ty: Handle<Type>) -> Result<String> {
        match &self.module.types[ty] {
            Type { name: Some(name), inner: TypeInner::Struct { .. } } => Ok(safe(name)),
            Type { inner, .. } => self.inner_name(inner),
        }
    }

    pub(super) fn inner_name(&self, inner: &TypeInner) -> Result<String> {
        Ok(match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar_name(scalar)?.to_owned(),
            TypeInner::Vector { size, scalar } => format!("wgsl::vec<{}, {}>", scalar_name(scalar)?, size as u8),
            TypeInner::Matrix { columns, rows, scalar } => {
                format!("wgsl::mat<{}, {}, {}>", scalar_name(scalar)?, columns as u8, rows as u8)
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
                let item = &self.module.types[base].inner;
                if item.size(self.module.to_ctx()) != stride {
                    return Err(unsupported("an array with gaps between its items, such as array<vec3<f32>>"));
                }
                format!("wgsl::array<{}, {count}>", self.type_name(base)?)
            }
            TypeInner::Pointer { base, .. } => format!("{}*", self.type_name(base)?),
            TypeInner::ValuePointer { size: None, scalar, .. } => format!("{}*", scalar_name(scalar)?),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
                format!("wgsl::vec<{}, {}>*", scalar_name(scalar)?, size as u8)
            }
            ref other => return Err(unsupported(format!("a value of type {other:?}"))),
        })
    }

    /// A variable with its type.
    pub(super) fn declared(&self, ty: Handle<Type>, name: &str) -> Result<String> {
        Ok(format!("{} {name}", self.type_name(ty)?))
    }

    /// The pointer to a storage buffer: to its items if it is an array of any length.
    pub(super) fn storage_pointer(&self, global: &GlobalVariable) -> Result<String> {
        let item = match self.module.types[global.ty].inner {
            TypeInner::Array { base, size: ArraySize::Dynamic, .. } => base,
            _ => global.ty,
        };
        let is_written =
            matches!(global.space, naga::AddressSpace::Storage { access } if access.contains(StorageAccess::STORE));
        Ok(format!("{}{}*", if is_written { "" } else { "const " }, self.type_name(item)?))
    }

    /// Every struct, laid out as WGSL lays it out.
    pub(super) fn structs(&self) -> Result<String> {
        let mut layouter = Layouter::default();
        layouter.update(self.module.to_ctx()).map_err(|error| refused(&error.to_string()))?;
        let mut text = String::new();
        for (handle, ty) in self.module.types.iter() {
            if let TypeInner::Struct { members, span } = &ty.inner {
                let name = self.type_name(handle)?;
                let alignment = layouter[handle].alignment;
                text += &self.structure(&name, members, *span, alignment)?;
            }
        }
        Ok(text)
    }

    fn structure(&self, name: &str, members: &[StructMember], span: u32, alignment: Alignment) -> Result<String> {
        let mut text = format!("struct alignas({}) {name} {{\n", alignment.round_up(1));
        for (member, gap) in self.with_gaps(members) {
            if gap > 0 {
                text += &format!("    char gap_{}[{gap}];\n", member.offset);
            }
            let name = member.name.as_deref().unwrap_or("member");
            text += &format!("    {};\n", self.declared(member.ty, &safe(name))?);
        }
        text += "};\n";
        if members.iter().all(|member| !self.holds_bool(member.ty)) {
            text += &format!("static_assert(sizeof({name}) == {span}, \"{name} is laid out as in WGSL\");\n");
        }
        Ok(text)
    }

    /// The members of a struct, each with the bytes of the gap before it that C++ would not leave by itself.
    pub(super) fn with_gaps<'m>(&self, members: &'m [StructMember]) -> Vec<(&'m StructMember, u32)> {
        let mut end = 0;
        let mut found = Vec::with_capacity(members.len());
        for member in members {
            let inner = &self.module.types[member.ty].inner;
            let natural = match inner {
                // Four bytes are enough for the prelude's vec3, which WGSL places at multiples of 16.
                TypeInner::Vector { size: naga::VectorSize::Tri, .. } => end,
                _ => member.offset,
            };
            found.push((member, member.offset.saturating_sub(natural.max(end))));
            end = member.offset + inner.size(self.module.to_ctx());
        }
        found
    }

    fn holds_bool(&self, ty: Handle<Type>) -> bool {
        match &self.module.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } => scalar.kind == ScalarKind::Bool,
            TypeInner::Array { base, .. } => self.holds_bool(*base),
            TypeInner::Struct { members, .. } => members.iter().any(|member| self.holds_bool(member.ty)),
            _ => false,
        }
    }
}

/// The scalar's type in C++.
pub(super) fn scalar_name(scalar: Scalar) -> Result<&'static str> {
    Ok(match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 4) => "f32",
        (ScalarKind::Float, 2) => "wgsl::half",
        (ScalarKind::Sint, 4) => "i32",
        (ScalarKind::Uint, 4) => "u32",
        (ScalarKind::Bool, _) => "bool",
        (kind, width) => return Err(unsupported(format!("a {kind:?} of {width} bytes"))),
    })
}
