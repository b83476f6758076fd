//! Fingerprints of schemas, which do not depend on the names of types.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::{Pointer, Schema, references};

/// A fingerprint of each schema. Two types with other names and the same fingerprint are most
/// likely one type.
#[derive(Default)]
pub struct Prints(BTreeMap<Pointer, u64>);

impl Prints {
    /// Computes the fingerprints of all schemas. They cover what is up to four references away.
    pub fn of(schemas: &BTreeMap<Pointer, Rc<Schema>>) -> Self {
        let own: Vec<_> = schemas
            .iter()
            .map(|(pointer, schema)| {
                let mut all = Vec::new();
                references(schema, &mut all);
                (pointer, hash(&**schema), all)
            })
            .collect();
        let mut prints = Self::default();
        for _ in 0..4 {
            let next = own.iter().map(|(pointer, own, references)| {
                ((*pointer).clone(), prints.with(*own, references))
            });
            prints = Self(next.collect());
        }
        prints
    }

    /// The fingerprint of any schema of the document.
    pub fn of_schema(&self, schema: &Schema) -> u64 {
        let mut all = Vec::new();
        references(schema, &mut all);
        self.with(hash(schema), &all)
    }

    /// The sum of the fingerprints does not depend on the order of lists.
    fn with(&self, own: u64, references: &[Pointer]) -> u64 {
        let all = references.iter().filter_map(|pointer| self.0.get(pointer));
        hash(&(own, all.fold(0_u64, |sum, print| sum.wrapping_add(*print))))
    }
}

/// The fingerprint of a value.
pub fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
