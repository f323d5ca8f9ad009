//! Reading locations.

use super::cursor::Read;
use super::operations::Reader;
use crate::{Diagnostic, Loc, LocId};

impl Reader<'_> {
    /// `loc(…)` if it is next, else the unknown location.
    pub(super) fn optional_location(&mut self) -> Read<LocId> {
        if self.cursor.looking_at("loc(") { self.location() } else { Ok(LocId::unknown()) }
    }

    /// `loc(…)`.
    pub(super) fn location(&mut self) -> Read<LocId> {
        self.cursor.expect("loc")?;
        self.cursor.expect("(")?;
        let loc = self.nested(Self::location_inside)?;
        self.cursor.expect(")")?;
        Ok(loc)
    }

    fn location_inside(&mut self) -> Read<LocId> {
        let start = self.cursor.here();
        if self.cursor.peek() == Some(b'#') {
            let Some(name) = self.cursor.sigil_name(b'#') else {
                return Err(self.cursor.expected("a location alias"));
            };
            if let Some(loc) = self.loc_aliases.get(name) {
                return Ok(*loc);
            }
            // Aliases of locations stand at the end of the text.
            return self.forward_location(name, start);
        }
        if self.cursor.looking_at("loc(") {
            return self.location();
        }
        if self.cursor.eat_word("unknown") {
            return Ok(LocId::unknown());
        }
        if self.cursor.eat_word("callsite") {
            self.cursor.expect("(")?;
            let callee = self.nested(Self::location_inside)?;
            self.cursor.expect_word("at")?;
            let caller = self.nested(Self::location_inside)?;
            self.cursor.expect(")")?;
            return Ok(self.module.locs.intern(Loc::CallSite { callee, caller }));
        }
        if self.cursor.eat_word("fused") {
            return self.fused_location();
        }
        self.named_or_file_location()
    }

    fn fused_location(&mut self) -> Read<LocId> {
        let metadata = if self.cursor.eat("<") {
            let metadata = self.attribute()?;
            self.cursor.expect(">")?;
            Some(metadata)
        } else {
            None
        };
        self.cursor.expect("[")?;
        let mut parts = Vec::new();
        if !self.cursor.eat("]") {
            self.list("]", |reader| {
                parts.push(reader.nested(Self::location_inside)?);
                Ok(())
            })?;
        }
        Ok(self.module.locs.intern(Loc::Fused { parts, metadata }))
    }

    fn named_or_file_location(&mut self) -> Read<LocId> {
        let text = String::from_utf8_lossy(&self.cursor.string()?).into_owned();
        let name = self.module.names.intern(&text);
        if self.cursor.eat(":") {
            let line = self.position()?;
            self.cursor.expect(":")?;
            let column = self.position()?;
            if !self.cursor.eat_word("to") {
                return Ok(self.module.locs.intern(Loc::File { file: name, line, column }));
            }
            let end_line = if self.cursor.looking_at(":") { None } else { Some(self.position()?) };
            self.cursor.expect(":")?;
            let end = (end_line, self.position()?);
            return Ok(self.module.locs.intern(Loc::FileRange { file: name, start: (line, column), end }));
        }
        let child = if self.cursor.eat("(") {
            let child = self.nested(Self::location_inside)?;
            self.cursor.expect(")")?;
            child
        } else {
            LocId::unknown()
        };
        Ok(self.module.locs.intern(Loc::Name { name, child }))
    }

    fn position(&mut self) -> Read<u32> {
        let at = self.cursor.here();
        u32::try_from(self.cursor.integer()?)
            .map_err(|_| Diagnostic::invalid(at, "lines and columns fit 32 bits"))
    }
}
