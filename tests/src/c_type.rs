//! C spelling of the types of Rust function pointers, so that C compilers can check the rows of
//! `hansa_plugin_api::hsa::api`.
//!
//! The input is what `core::any::type_name` says of a function pointer: aliases are resolved in it, callbacks are
//! written out. Understood are integers, `bool`, `c_void`, named types, pointers and optional function pointers, which
//! is all that the interface uses; anything else is an error.

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    Void,
    Named(String),
    Pointer { constant: bool, to: Box<Self> },
    Function { arguments: Vec<Self>, result: Box<Self> },
}

/// Function types in C, and the type definitions that they refer to.
#[derive(Debug, Default)]
pub struct Spelling {
    /// Signatures of callbacks with `@` in the place of their name; the index is the number in the name.
    callbacks: Vec<String>,
}

impl Spelling {
    /// C type of a function, from the name of the type of a pointer to it.
    ///
    /// # Errors
    ///
    /// The rest of the name from where it was not understood.
    pub fn function(&mut self, type_name: &str) -> Result<String, String> {
        let mut rest = type_name;
        let parsed = parse(&mut rest)?;
        let Type::Function { arguments, result } = parsed else {
            return Err(format!("{type_name} is not a function"));
        };
        if rest.is_empty() {
            Ok(self.signature(&arguments, &result, ""))
        } else {
            Err(format!("{rest} is left over of {type_name}"))
        }
    }

    /// Type definitions that must stand before all types given so far.
    #[must_use]
    pub fn definitions(&self) -> Vec<String> {
        let define = |(index, signature): (usize, &String)| {
            format!(
                "typedef {};",
                signature.replace('@', &format!("callback_{index}"))
            )
        };
        self.callbacks.iter().enumerate().map(define).collect()
    }

    fn signature(&mut self, arguments: &[Type], result: &Type, name: &str) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| self.spell(argument)).collect();
        let arguments = if arguments.is_empty() {
            "void".to_owned()
        } else {
            arguments.join(", ")
        };
        format!("{} {name}({arguments})", self.spell(result))
    }

    fn spell(&mut self, spelled: &Type) -> String {
        match spelled {
            Type::Void => "void".to_owned(),
            Type::Named(name) => name.clone(),
            Type::Pointer { constant, to } => {
                let target = self.spell(to);
                if *constant {
                    format!("{target} const *")
                } else {
                    format!("{target} *")
                }
            }
            Type::Function { arguments, result } => {
                let signature = self.signature(arguments, result, "(*@)");
                let index = self
                    .callbacks
                    .iter()
                    .position(|known| *known == signature)
                    .unwrap_or_else(|| {
                        self.callbacks.push(signature);
                        self.callbacks.len() - 1
                    });
                format!("callback_{index}")
            }
        }
    }
}

/// Takes `prefix` off the front of `rest`.
fn take(rest: &mut &str, prefix: &str) -> bool {
    rest.strip_prefix(prefix).is_some_and(|after| {
        *rest = after;
        true
    })
}

/// Takes `prefix` off the front of `rest`, which must be there.
fn expect(rest: &mut &str, prefix: &str) -> Result<(), String> {
    if take(rest, prefix) {
        Ok(())
    } else {
        Err(format!("expected {prefix:?} before {rest:?}"))
    }
}

fn parse(rest: &mut &str) -> Result<Type, String> {
    for (prefix, constant) in [("*const ", true), ("*mut ", false)] {
        if take(rest, prefix) {
            return Ok(Type::Pointer {
                constant,
                to: Box::new(parse(rest)?),
            });
        }
    }
    if take(rest, "core::option::Option<") {
        let function = parse(rest)?;
        expect(rest, ">")?;
        return Ok(function);
    }
    if take(rest, "unsafe extern \"C\" fn(") {
        let mut arguments = Vec::new();
        while !take(rest, ")") {
            if !arguments.is_empty() {
                expect(rest, ", ")?;
            }
            arguments.push(parse(rest)?);
        }
        let result = if take(rest, " -> ") {
            parse(rest)?
        } else {
            Type::Void
        };
        return Ok(Type::Function {
            arguments,
            result: Box::new(result),
        });
    }
    if take(rest, "()") {
        return Ok(Type::Void);
    }
    let end = rest
        .find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'))
        .unwrap_or(rest.len());
    let (path, after) = rest.split_at(end);
    *rest = after;
    let name = path.rsplit("::").next().unwrap_or_default();
    let c_name = match name {
        "" => return Err(format!("expected a type before {rest:?}")),
        "c_void" => return Ok(Type::Void),
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        // `c_char`; the interface has no other signed byte.
        "i8" => "char",
        "i32" => "int",
        "i64" => "int64_t",
        "usize" => "size_t",
        "BrigModuleHeader" => "struct BrigModuleHeader",
        known => known,
    };
    Ok(Type::Named(c_name.to_owned()))
}

#[cfg(test)]
mod tests {
    use core::any::type_name;
    use core::ffi::{c_char, c_void};

    use super::*;

    #[test]
    fn pointers_keep_which_side_is_constant() {
        let mut spelling = Spelling::default();
        let spelled = spelling.function(type_name::<
            unsafe extern "C" fn(*mut *const c_void, *const c_char) -> bool,
        >());
        assert_eq!(spelled.as_deref(), Ok("bool (void const * *, char const *)"));
    }

    #[test]
    fn equal_callbacks_share_a_definition_and_nested_ones_come_first() {
        type Inner = Option<unsafe extern "C" fn(u32)>;
        type Outer = Option<unsafe extern "C" fn(Inner) -> i32>;
        let mut spelling = Spelling::default();
        let first = spelling.function(type_name::<unsafe extern "C" fn(Outer)>());
        let second = spelling.function(type_name::<unsafe extern "C" fn(Inner, Outer)>());
        assert_eq!(first.as_deref(), Ok("void (callback_1)"));
        assert_eq!(second.as_deref(), Ok("void (callback_0, callback_1)"));
        let definitions = [
            "typedef void (*callback_0)(uint32_t);",
            "typedef int (*callback_1)(callback_0);",
        ];
        assert_eq!(spelling.definitions(), definitions);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert!(Spelling::default()
            .function("unsafe extern \"C\" fn(&u8)")
            .is_err());
        assert!(Spelling::default().function("u32").is_err());
    }
}
