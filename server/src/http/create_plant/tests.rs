use super::*;

/// Dropshot moves it into a box, and each request that waits keeps one.
#[test]
fn future_of_a_create_is_small() {
    fn size_of_future<C, R, F: Future>(_: fn(C, R) -> F) -> usize {
        size_of::<F>()
    }
    let size = size_of_future(create_plant);
    assert!(size <= 768, "{size} bytes");
}
