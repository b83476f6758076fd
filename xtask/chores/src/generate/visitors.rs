//! What is changed in the Rust that progenitor makes.

use syn::visit_mut::{VisitMut, visit_expr_call_mut};
use syn::{
    AngleBracketedGenericArguments, Expr, ExprCall, GenericArgument, Path, PathArguments,
    TraitBound, Type, parse_quote,
};

/// Has the setter of an optional member take what that of a required one takes, such as a `&str`:
/// `IntoOptional<T>` instead of `TryInto<Option<T>>`.
pub struct OptionalSetters;

impl VisitMut for OptionalSetters {
    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        if let Some(value) = argument_of(&bound.path, "TryInto")
            && let Some(GenericArgument::Type(Type::Path(option))) = value.args.first()
            && let Some(value) = argument_of(&option.path, "Option")
        {
            bound.path = parse_quote!(crate::IntoOptional #value);
        }
    }
}

/// Has the commands read the file of `--json-body` with the client's own functions. They take
/// standard input, too, and refuse a member that the document does not have.
pub struct BodiesOfCommands;

impl VisitMut for BodiesOfCommands {
    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        visit_expr_call_mut(self, call);
        let Expr::Path(function) = &mut *call.func else { return };
        if let Some(body) = argument_of(&function.path, "from_str") {
            function.path = parse_quote!(crate::cli::body::parse #body);
            call.args.push(parse_quote!(matches));
        } else if last_is(&function.path, "read_to_string") {
            function.path = parse_quote!(crate::cli::body::read);
        }
    }
}

fn last_is(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// The arguments of a path that ends with this name.
fn argument_of<'a>(path: &'a Path, name: &str) -> Option<&'a AngleBracketedGenericArguments> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    Some(arguments)
}
