//! The macro behind every interface of the contract.
//!
//! From one list of methods it makes four things: the trait that the implementing side fills in, the table of
//! `extern "C"` functions that crosses the boundary, the object (data pointer and table), and the calling
//! side's methods. A method in the `optional` part answers "not supported" unless an implementor writes it; one in the
//! `added` part is one that a later minor brought: the other side's table may end before it, and then the caller gets
//! [`ErrorCode::NOT_SUPPORTED`](crate::ErrorCode::NOT_SUPPORTED).

use crate::{Error, ErrorCode, RawResult, Result};
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs an implementation behind a shim: a panic becomes an error with the panic's text.
#[inline]
pub fn guarded<T>(method: &str, body: impl FnOnce() -> Result<T>) -> RawResult<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result.into(),
        Err(payload) => RawResult::RErr(Error::new(
            ErrorCode::PANIC,
            format!("Panic in {method}: {}", panic_text(payload.as_ref())),
        )),
    }
}

/// The text of a caught panic.
pub fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}

/// Declares an interface of the contract; see the module's text.
#[macro_export]
#[doc(hidden)]
macro_rules! interface {
    (
        $(#[$meta:meta])*
        pub trait $Trait:ident, $VTable:ident, $VTableRef:ident, $VTablePrefix:ident, $Object:ident, $Ref:ident {
            $(
                $(#[$rmeta:meta])*
                fn $rname:ident ( $($rarg:ident : $RArg:ty),* $(,)? ) -> $RRet:ty;
            )*
        }
        optional {
            $(
                $(#[$fmeta:meta])*
                fn $name:ident ( $($arg:ident : $Arg:ty),* $(,)? ) -> $Ret:ty;
            )*
        }
        added {
            $(
                $(#[$ameta:meta])*
                fn $aname:ident ( $($aarg:ident : $AArg:ty),* $(,)? ) -> $ARet:ty;
            )*
        }
    ) => {
        $(#[$meta])*
        pub trait $Trait: Send + Sync {
            $(
                $(#[$rmeta])*
                fn $rname(&self $(, $rarg: $RArg)*) -> $crate::Result<$RRet>;
            )*
            $(
                $(#[$fmeta])*
                fn $name(&self $(, $arg: $Arg)*) -> $crate::Result<$Ret> {
                    $(let _ = $arg;)*
                    Err($crate::Error::not_supported(concat!(stringify!($Trait), "::", stringify!($name))))
                }
            )*
            $(
                $(#[$ameta])*
                fn $aname(&self $(, $aarg: $AArg)*) -> $crate::Result<$ARet> {
                    $(let _ = $aarg;)*
                    Err($crate::Error::not_supported(concat!(stringify!($Trait), "::", stringify!($aname))))
                }
            )*
        }

        #[doc = concat!("The functions of a [`", stringify!($Trait), "`] as they cross the boundary.")]
        #[repr(C)]
        #[derive(abi_stable::StableAbi)]
        #[sabi(kind(Prefix(prefix_ref = $VTableRef, prefix_fields = $VTablePrefix)))]
        #[sabi(missing_field(option))]
        pub struct $VTable {
            $(
                #[doc = concat!("See [`", stringify!($Trait), "::", stringify!($rname), "`].")]
                pub $rname: extern "C" fn(*const () $(, $RArg)*) -> $crate::RawResult<$RRet>,
            )*
            $(
                #[doc = concat!("See [`", stringify!($Trait), "::", stringify!($name), "`].")]
                pub $name: extern "C" fn(*const () $(, $Arg)*) -> $crate::RawResult<$Ret>,
            )*
            /// Ends the object; the data pointer is not used again.
            #[sabi(last_prefix_field)]
            pub drop: extern "C" fn(*const ()),
            $(
                #[doc = concat!("See [`", stringify!($Trait), "::", stringify!($aname), "`].")]
                pub $aname: extern "C" fn(*const () $(, $AArg)*) -> $crate::RawResult<$ARet>,
            )*
        }

        impl $VTable {
            /// The table for an implementation.
            pub fn of<T: $Trait + 'static>() -> $VTableRef {
                struct Table<T>(std::marker::PhantomData<T>);
                impl<T: $Trait + 'static> Table<T> {
                    const VALUE: &'static abi_stable::prefix_type::WithMetadata<$VTable> =
                        &abi_stable::prefix_type::WithMetadata::new($VTable {
                            $($rname: $rname::<T>,)*
                            $($name: $name::<T>,)*
                            drop: drop_object::<T>,
                            $($aname: $aname::<T>,)*
                        });
                }
                $(
                    extern "C" fn $rname<T: $Trait + 'static>(this: *const () $(, $rarg: $RArg)*) -> $crate::RawResult<$RRet> {
                        // SAFETY: `this` comes from `$Object::new::<T>`, which pairs it with this table, and
                        // the object is dropped only by its owner, after the last call.
                        let object: &T = unsafe { &*this.cast::<T>() };
                        $crate::export::guarded(
                            concat!(stringify!($Trait), "::", stringify!($rname)),
                            || object.$rname($($rarg),*),
                        )
                    }
                )*
                $(
                    extern "C" fn $name<T: $Trait + 'static>(this: *const () $(, $arg: $Arg)*) -> $crate::RawResult<$Ret> {
                        // SAFETY: `this` comes from `$Object::new::<T>`, which pairs it with this table, and
                        // the object is dropped only by its owner, after the last call.
                        let object: &T = unsafe { &*this.cast::<T>() };
                        $crate::export::guarded(
                            concat!(stringify!($Trait), "::", stringify!($name)),
                            || object.$name($($arg),*),
                        )
                    }
                )*
                $(
                    extern "C" fn $aname<T: $Trait + 'static>(this: *const () $(, $aarg: $AArg)*) -> $crate::RawResult<$ARet> {
                        // SAFETY: as above.
                        let object: &T = unsafe { &*this.cast::<T>() };
                        $crate::export::guarded(
                            concat!(stringify!($Trait), "::", stringify!($aname)),
                            || object.$aname($($aarg),*),
                        )
                    }
                )*
                extern "C" fn drop_object<T>(this: *const ()) {
                    // SAFETY: `this` is the box that `$Object::new::<T>` leaked, and `$Object` drops it once.
                    let object = unsafe { Box::from_raw(this.cast_mut().cast::<T>()) };
                    let _ = $crate::export::guarded(concat!(stringify!($Trait), "::drop"), || {
                        drop(object);
                        Ok(())
                    });
                }
                $VTableRef(Table::<T>::VALUE.static_as_prefix())
            }
        }

        #[doc = concat!("An owned [`", stringify!($Trait), "`] from either side of the boundary.")]
        #[repr(C)]
        #[derive(abi_stable::StableAbi)]
        pub struct $Object {
            data: *const (),
            vtable: $VTableRef,
        }

        // SAFETY: the trait requires `Send + Sync` of every implementation.
        unsafe impl Send for $Object {}
        // SAFETY: as above.
        unsafe impl Sync for $Object {}

        impl std::fmt::Debug for $Object {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($Object)).field(&self.data).finish()
            }
        }

        impl $Object {
            /// Wraps an implementation.
            pub fn new<T: $Trait + 'static>(implementation: T) -> Self {
                Self { data: Box::into_raw(Box::new(implementation)).cast_const().cast(), vtable: $VTable::of::<T>() }
            }

            /// Borrows it as the calling side's view.
            pub fn as_ref(&self) -> $Ref<'_> {
                $Ref { data: self.data, vtable: self.vtable, lifetime: std::marker::PhantomData }
            }

            $(
                $(#[$rmeta])*
                #[inline]
                pub fn $rname(&self $(, $rarg: $RArg)*) -> $crate::Result<$RRet> {
                    self.as_ref().$rname($($rarg),*)
                }
            )*
            $(
                $(#[$fmeta])*
                #[inline]
                pub fn $name(&self $(, $arg: $Arg)*) -> $crate::Result<$Ret> {
                    self.as_ref().$name($($arg),*)
                }
            )*
            $(
                $(#[$ameta])*
                #[inline]
                pub fn $aname(&self $(, $aarg: $AArg)*) -> $crate::Result<$ARet> {
                    self.as_ref().$aname($($aarg),*)
                }
            )*
        }

        impl Drop for $Object {
            fn drop(&mut self) {
                (self.vtable.drop())(self.data);
            }
        }

        #[doc = concat!("A borrowed [`", stringify!($Trait), "`]: the calling side's view of it.")]
        #[repr(C)]
        #[derive(Clone, Copy, abi_stable::StableAbi)]
        pub struct $Ref<'a> {
            data: *const (),
            vtable: $VTableRef,
            lifetime: std::marker::PhantomData<&'a ()>,
        }

        // SAFETY: the trait requires `Send + Sync` of every implementation.
        unsafe impl Send for $Ref<'_> {}
        // SAFETY: as above.
        unsafe impl Sync for $Ref<'_> {}

        impl std::fmt::Debug for $Ref<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($Ref)).field(&self.data).finish()
            }
        }

        impl $Ref<'_> {
            /// The same view without a lifetime.
            ///
            /// # Safety
            ///
            /// The object must outlive every use of the result.
            pub unsafe fn unbound(self) -> $Ref<'static> {
                $Ref { data: self.data, vtable: self.vtable, lifetime: std::marker::PhantomData }
            }

            $(
                $(#[$rmeta])*
                #[inline]
                pub fn $rname(&self $(, $rarg: $RArg)*) -> $crate::Result<$RRet> {
                    (self.vtable.$rname())(self.data $(, $rarg)*).into_result()
                }
            )*
            $(
                $(#[$fmeta])*
                #[inline]
                pub fn $name(&self $(, $arg: $Arg)*) -> $crate::Result<$Ret> {
                    (self.vtable.$name())(self.data $(, $arg)*).into_result()
                }
            )*
            $(
                $(#[$ameta])*
                #[inline]
                pub fn $aname(&self $(, $aarg: $AArg)*) -> $crate::Result<$ARet> {
                    match self.vtable.$aname() {
                        Some(function) => function(self.data $(, $aarg)*).into_result(),
                        None => Err($crate::Error::not_supported(
                            concat!(stringify!($Trait), "::", stringify!($aname)),
                        )),
                    }
                }
            )*
        }
    };
}
