//! The code object handles of HSA 1.0, deprecated since 1.1.
//!
//! A program gets such a handle by deserializing bytes, asks it what it has, and loads it. Nothing
//! in it depends on an agent.

use std::sync::Arc;

use super::attributes::{look_up_in, Linkage, Name, SymbolKind};
use super::error::LoadError;
use super::executable::{FloatRounding, Profile};
use super::isa::Isa;
use super::reader::CodeObjectReader;
use super::uri::MemoryUri;

/// A code object with a copy of its bytes.
#[derive(Debug)]
pub struct SerializedCodeObject {
    reader: CodeObjectReader,
    version: String,
    isa: Isa,
    profile: Profile,
    rounding: FloatRounding,
    symbols: Vec<Arc<CodeSymbol>>,
}

/// A symbol of a [`SerializedCodeObject`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSymbol {
    name: Name,
    /// Who sees it.
    pub linkage: Linkage,
    /// What it is; `None` for a variable the object only declares.
    pub kind: Option<SymbolKind>,
}

impl SerializedCodeObject {
    /// Copies and checks the bytes of a code object.
    ///
    /// # Errors
    ///
    /// See [`super::CodeObject::parse`].
    pub fn deserialize(bytes: &[u8]) -> Result<Self, LoadError> {
        let bytes: Arc<Vec<u8>> = Arc::new(bytes.to_vec());
        let reader = CodeObjectReader::from_memory(bytes, MemoryUri::LoadedObjects);
        let object = reader.parse()?;
        let settings = object.hsail_settings().unwrap_or_default();
        let symbols = object.symbols().iter().map(|symbol| CodeSymbol {
            name: Name::new(symbol.name),
            linkage: Linkage::of(symbol),
            kind: SymbolKind::of(symbol),
        });
        Ok(Self {
            version: object.version().to_string(),
            isa: object.target().isa,
            profile: settings.profile,
            rounding: settings.rounding,
            symbols: symbols.map(Arc::new).collect(),
            reader: reader.clone(),
        })
    }

    /// The bytes, which are also the serialized form.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.reader.bytes()
    }

    /// A reader for loading it.
    #[must_use]
    pub fn reader(&self) -> &CodeObjectReader {
        &self.reader
    }

    /// The version as text, such as `2.1`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The instruction set it is for.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The profile it is for.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The rounding mode it is for.
    #[must_use]
    pub fn rounding(&self) -> FloatRounding {
        self.rounding
    }

    /// The symbols in the order of the symbol table.
    #[must_use]
    pub fn symbols(&self) -> &[Arc<CodeSymbol>] {
        &self.symbols
    }

    /// The symbol of a module with a name; an empty module is none.
    #[must_use]
    pub fn symbol(&self, module: &str, name: &str) -> Option<&Arc<CodeSymbol>> {
        look_up_in(module, name, |full| {
            self.symbols.iter().find(|symbol| **symbol.name.full() == *full)
        })
    }
}

impl CodeSymbol {
    /// The name within the module.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.own()
    }

    /// The module's name.
    #[must_use]
    pub fn module_name(&self) -> &str {
        self.name.module()
    }

    /// Whether the object defines it.
    #[must_use]
    pub fn is_definition(&self) -> bool {
        self.kind.is_some()
    }
}
