//! Macros that declare an ABI type together with a description of its layout.
//!
//! Each declared type can be listed by [`reflect`](super::reflect), which is how tests compare it with C headers
//! without a second list of fields.

/// Declares a handle: a C structure with one 64-bit member.
macro_rules! abi_handle {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            /// The handle itself.
            pub handle: u64,
        }

        impl $name {
            /// Layout of this type.
            pub const LAYOUT: $crate::hsa::reflect::Layout = $crate::hsa::reflect::Layout {
                name: stringify!($name),
                size: size_of::<Self>(),
                align: align_of::<Self>(),
                fields: &[$crate::hsa::reflect::Field { name: "handle", offset: 0, size: 8 }],
            };
        }
    };
}

/// Declares a C structure; all fields are public.
macro_rules! abi_struct {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[$fmeta])* pub $field: $ty,)*
        }

        impl $name {
            /// Layout of this type.
            pub const LAYOUT: $crate::hsa::reflect::Layout = $crate::hsa::reflect::Layout {
                name: stringify!($name),
                size: size_of::<Self>(),
                align: align_of::<Self>(),
                fields: &[$($crate::hsa::reflect::Field {
                    name: stringify!($field),
                    offset: core::mem::offset_of!($name, $field),
                    size: size_of::<$ty>(),
                },)*],
            };
        }
    };
}

/// Declares an enumeration as an integer with named values: a value nobody knows stays a value.
macro_rules! abi_enum {
    ($(#[$meta:meta])* $name:ident: $int:ty { $($(#[$vmeta:meta])* $short:ident = $value:expr => $c_name:ident,)* }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);

        impl $name {
            $($(#[$vmeta])* #[doc = concat!(" `", stringify!($c_name), "` in C.")] pub const $short: Self = Self($value);)*

            /// Names and values of this type.
            pub const ENUM: $crate::hsa::reflect::Enum = $crate::hsa::reflect::Enum {
                name: stringify!($name),
                size: size_of::<Self>(),
                values: &[$((stringify!($c_name), $value),)*],
            };

            /// Name in C of this value, if it has one.
            #[must_use]
            pub fn c_name(self) -> Option<&'static str> {
                Self::ENUM.c_name(i64::from(self.0))
            }
        }
    };
}

/// Declares the bit fields of a word as masks with their shifts and widths.
macro_rules! abi_bits {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $short:ident = $shift:literal, $width:literal => $c_name:ident,)* }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            $($(#[$vmeta])* #[doc = concat!(" Mask `", stringify!($c_name), "` in C.")]
            pub const $short: Self = Self(((1 << $width) - 1) << $shift);)*

            /// Names, first bits and widths of the fields.
            pub const BITS: $crate::hsa::reflect::Bits = $crate::hsa::reflect::Bits {
                name: stringify!($name),
                fields: &[$((stringify!($c_name), $shift, $width, Self::$short.0),)*],
            };

            /// Value of a field of `word`.
            #[must_use]
            pub const fn of(self, word: u32) -> u32 {
                if self.0 == 0 { 0 } else { (word & self.0) >> self.0.trailing_zeros() }
            }
        }
    };
}

/// Gives a union a `Debug` that prints its name only: which arm holds is not known here.
macro_rules! opaque_debug {
    ($name:ident) => {
        impl core::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.write_str(stringify!($name))
            }
        }
    };
}
