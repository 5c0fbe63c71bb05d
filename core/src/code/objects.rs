//! The code object handles of HSA 1.0: a code object and its symbols, independent of agents and executables.

use super::{full, remembered};
use crate::error::{Error, Result};
use crate::loader::{CodeSymbol, SerializedCodeObject};
use crate::runtime::Runtime;
use hansa_plugin_api::sync::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A code object of the program.
#[derive(Debug)]
pub struct CodeObject {
    /// The code object.
    pub object: SerializedCodeObject,
    symbols: Mutex<HashMap<usize, u64>>,
}

/// A symbol of a live code object.
#[derive(Debug)]
pub struct CodeObjectSymbol {
    /// The code object's handle.
    pub code_object: u64,
    /// The symbol.
    pub symbol: Arc<CodeSymbol>,
}

impl Runtime {
    /// Makes a code object of its bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCodeObject`] when they are none.
    pub fn deserialize(&self, bytes: &[u8]) -> Result<u64> {
        let object = CodeObject {
            object: SerializedCodeObject::deserialize(bytes)?,
            symbols: Mutex::default(),
        };
        self.code.objects.insert(Arc::new(object)).ok_or_else(full)
    }

    /// The code object behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCodeObject`] for any other handle.
    pub fn code_object(&self, code_object: u64) -> Result<Arc<CodeObject>> {
        self.code.objects.get(code_object).ok_or_else(invalid)
    }

    /// Destroys a code object. What was loaded from it stays.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCodeObject`] for any other handle.
    pub fn destroy_code_object(&self, code_object: u64) -> Result<()> {
        let object = self.code.objects.remove(code_object).ok_or_else(invalid)?;
        for (_, symbol) in object.symbols.lock().drain() {
            self.code.object_symbols.remove(symbol);
        }
        Ok(())
    }

    /// The handle of a symbol of a code object.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when there are too many.
    pub fn code_symbol_handle(
        &self,
        code_object: u64,
        object: &CodeObject,
        symbol: &Arc<CodeSymbol>,
    ) -> Result<u64> {
        remembered(&object.symbols, Arc::as_ptr(symbol).addr(), || {
            let symbol = CodeObjectSymbol {
                code_object,
                symbol: Arc::clone(symbol),
            };
            self.code.object_symbols.insert(Arc::new(symbol))
        })
    }

    /// The symbol behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCodeSymbol`] for any other handle, and for one of a code object that is gone.
    pub fn code_symbol(&self, symbol: u64) -> Result<Arc<CodeObjectSymbol>> {
        self.code
            .object_symbols
            .get(symbol)
            .ok_or(Error::InvalidCodeSymbol)
    }
}

fn invalid() -> Error {
    Error::InvalidCodeObject("not a code object".to_owned())
}
