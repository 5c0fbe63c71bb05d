//! What cannot be finalized is refused, with the place and the reason.

mod support;

use hansa_finalizer::translate::Error;
use support::{translate, HEAD};

fn refused(body: &str) -> Error {
    let text = format!("{HEAD}{body}");
    translate(&text).expect_err("it is refused")
}

#[test]
fn an_undefined_function_is_named_with_its_caller() {
    let error = refused(
        "decl prog function &missing()();
         prog function &middle()() { { call &missing()(); } };
         prog kernel &k() { { call &middle()(); } };",
    );
    assert_eq!(
        error,
        Error::UndefinedFunction {
            caller: "&middle".to_owned(),
            callee: "&missing".to_owned(),
        }
    );
}

#[test]
fn a_declaration_that_nothing_calls_is_no_fault() {
    let text = format!("{HEAD}decl prog function &abort()(); prog kernel &k() {{ ret; }};");
    let ir = translate(&text).expect("nothing calls it");
    assert!(!ir.contains("&abort"), "{ir}");
}

#[test]
fn exceptions_are_not_detected() {
    let error = refused("prog kernel &k() { getdetectexcept_u32 $s0; };");
    let text = error.to_string();
    assert!(
        text.contains("getdetectexcept_u32") && text.contains("&k"),
        "{text}"
    );
}

#[test]
fn the_small_machine_model_is_refused_by_name() {
    let text = "module &little:1:0:$full:$small:$default;\nprog kernel &k() { ret; };";
    let error = translate(text).expect_err("addresses have 64 bits");
    assert!(error.to_string().contains("&little"), "{error}");
}

#[test]
fn group_memory_that_no_module_defines_is_named() {
    let error = refused("decl prog group_u32 &shared; prog kernel &k() { ld_group_u32 $s0, [&shared]; };");
    assert!(error.to_string().contains("&shared"), "{error}");
}

#[test]
fn chips_that_are_not_known_are_refused() {
    let text = format!("{HEAD}prog kernel &k() {{ ret; }};");
    let error = support::translate_all(&[&text], "gfx701").expect_err("it has no 16-bit arithmetic");
    assert!(error.to_string().contains("gfx701"), "{error}");
}

#[test]
fn memory_of_a_size_only_known_later_is_refused() {
    let error = refused("prog kernel &k() { alloca_u32 $s0, $s1; };");
    assert!(error.to_string().contains("alloca_u32"), "{error}");
}

#[test]
fn images_and_samplers_have_no_initializers() {
    for (variable, what) in [
        (
            "readonly_samp &s = samp(coord = normalized, filter = linear, addressing = clamp_to_edge);",
            "samplers",
        ),
        (
            "prog readonly_roimg &s = roimg(geometry = 2d, width = 5, height = 4, channel_type = unorm_int8, \
             channel_order = rgba);",
            "images",
        ),
    ] {
        let text = error_of_images(variable);
        assert!(text.contains("&s") && text.contains(what), "{text}");
    }
}

/// Why a variable of a module that uses the image extension is refused.
fn error_of_images(variable: &str) -> String {
    refused(&format!(
        "extension \"IMAGE\";\n{variable}\nprog kernel &k() {{ ret; }};"
    ))
    .to_string()
}
