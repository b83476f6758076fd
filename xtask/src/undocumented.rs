//! Words for the public items that progenitor leaves without any: its builders, and its mocks. So
//! `missing_docs` is denied in the generated code, too. A schema, a member or an operation has its
//! words from the document.

use syn::visit_mut::VisitMut;
use syn::{
    Attribute, File, ImplItem, ItemImpl, ItemStruct, ItemTrait, ReturnType, Signature, TraitItem,
    Type, Visibility, parse_quote,
};

/// Adds the words. An item of another kind stays without, and the compiler refuses it.
pub fn describe(file: &mut File) {
    Words.visit_file_mut(file);
}

struct Words;

impl VisitMut for Words {
    fn visit_item_struct_mut(&mut self, item: &mut ItemStruct) {
        let name = item.ident.to_string();
        let words = match name.get(name.len().saturating_sub(4)..) {
            Some("When") => "The requests that a mock answers.",
            Some("Then") => "What a mock answers.",
            _ => "A builder of the type with this name.",
        };
        if matches!(item.vis, Visibility::Public(_)) {
            add(&mut item.attrs, words);
        }
    }

    fn visit_item_impl_mut(&mut self, item: &mut ItemImpl) {
        let Type::Path(of) = &*item.self_ty else { return };
        let of = of.path.segments.last().map(|of| of.ident.to_string()).unwrap_or_default();
        for function in &mut item.items {
            let ImplItem::Fn(function) = function else { continue };
            let is_public = matches!(function.vis, Visibility::Public(_));
            if is_public && let Some(words) = words(&of, &function.sig) {
                add(&mut function.attrs, &words);
            }
        }
    }

    fn visit_item_trait_mut(&mut self, item: &mut ItemTrait) {
        for function in &mut item.items {
            let TraitItem::Fn(function) = function else { continue };
            add(&mut function.attrs, &format!("A mock of the operation `{}`.", function.sig.ident));
        }
    }
}

/// What a function of this type does.
fn words(of: &str, function: &Signature) -> Option<String> {
    let name = function.ident.to_string();
    let words = match name.as_str() {
        "new" => "Begins with nothing set.",
        "builder" => "A builder in which nothing is set.",
        "into_inner" => "What is inside: with it a mock can leave what the document permits.",
        "body_map" => "Changes the body that is set so far.",
        "body" if of.ends_with("When") => "The request has this body.",
        _ if of.ends_with("Then") => "Answers with the status of this name, and this body.",
        _ if sets(function) => {
            return Some(format!(
                "Sets `{name}`. A value that cannot be converted is an error later on."
            ));
        }
        _ => return None,
    };
    Some(words.to_owned())
}

/// Whether a function takes a builder and returns it.
fn sets(function: &Signature) -> bool {
    let ReturnType::Type(_, returned) = &function.output else { return false };
    let is_builder = matches!(&**returned, Type::Path(path) if path.path.is_ident("Self"));
    is_builder && function.receiver().is_some()
}

/// Adds the words, where an item has none of its own.
fn add(attributes: &mut Vec<Attribute>, words: &str) {
    if !attributes.iter().any(|attribute| attribute.path().is_ident("doc")) {
        let words = format!(" {words}");
        attributes.push(parse_quote!(#[doc = #words]));
    }
}
