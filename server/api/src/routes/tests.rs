use super::*;

#[test]
fn route_of_an_operation_is_that_of_the_document() {
    let route = Route::of("create_plant");
    assert_eq!(route.method, Method::POST);
    assert!(route.has_path("/plants"));
    for other in ["/plants/", "//plants", "/plant", "/plants/1", "/Plants", "/%70lants", "", "/"] {
        assert!(!route.has_path(other), "{other}");
    }
}

#[test]
fn variable_segment_is_any_text_but_the_empty_one() {
    let template = "/plants/{id}".to_owned();
    let route = Route { operation_id: "get_plant".into(), method: Method::GET, template };
    assert!(route.has_path("/plants/-1"));
    for other in ["/plants/", "/plants", "/plants/1/", "/plants//1", "/trees/1"] {
        assert!(!route.has_path(other), "{other}");
    }
}
