//! What combined filters promise: their answers follow from those of their parts.

use crivo::codec::AnySketch;
use crivo::membership::{BlockedBloom, Bloom, CombinedFilter, CounterBits, CountingBloom};

/// Filters of three kinds and different sizes, with keys that overlap.
fn parts() -> [AnySketch; 3] {
    let mut bloom = Bloom::for_items(300, 0.01).unwrap();
    (0..300).for_each(|i: u64| drop(bloom.insert(format!("key {i}").as_str())));
    let mut blocked = BlockedBloom::for_items(2_000, 0.01).unwrap();
    (200..2_200).for_each(|i: u64| drop(blocked.insert(format!("key {i}").as_str())));
    let mut counting = CountingBloom::for_items(50, 0.01, CounterBits::Four).unwrap();
    (250..300).for_each(|i: u64| drop(counting.insert(format!("key {i}").as_str())));
    [bloom.into(), blocked.into(), counting.into()]
}

fn has(filter: &AnySketch, key: &str) -> bool {
    filter.membership().unwrap().contains_ref(crivo::keys::KeyRef::Bytes(key.as_bytes())).unwrap()
}

#[test]
fn answers_are_those_of_the_parts() {
    let [a, b, c] = parts();
    let union = CombinedFilter::union(a.clone(), b.clone()).unwrap();
    let both = CombinedFilter::intersection(a.clone(), b.clone()).unwrap();
    // What is in a or b, and in c too: an intersection of a union is a union of intersections.
    let mixed = CombinedFilter::intersection(union.clone().into(), c.clone()).unwrap();
    for i in 0..5_000 {
        let key = format!("key {i}");
        let [in_a, in_b, in_c] = [&a, &b, &c].map(|part| has(part, &key));
        assert_eq!(union.contains(&*key).unwrap(), in_a || in_b, "{key}");
        assert_eq!(both.contains(&*key).unwrap(), in_a && in_b, "{key}");
        assert_eq!(mixed.contains(&*key).unwrap(), (in_a || in_b) && in_c, "{key}");
    }
    assert!(union.items().covers(2_200.0) && both.items().covers(100.0) && mixed.items().covers(50.0));
    assert!(both.rate_for_some().is_some() && union.rate_for_some().is_none());
    // The union of two intersections with c holds c twice.
    assert_eq!([union.filters(), both.filters(), mixed.filters()], [2, 2, 4]);
}

/// Of 100,000 keys that are in no set, at most as many get a yes as the filter says, and five
/// deviations more: a false alarm in fewer than one of 10⁶ runs.
#[test]
fn the_rate_holds_for_keys_of_no_set() {
    let [a, b, _] = parts();
    for filter in
        [CombinedFilter::union(a.clone(), b.clone()).unwrap(), CombinedFilter::intersection(a, b).unwrap()]
    {
        let keys = 100_000;
        let found = (0..keys).filter(|i| filter.contains(&*format!("other {i}")).unwrap()).count() as f64;
        let most = filter.false_positive_rate() * f64::from(keys);
        assert!(found <= most + 5.0 * most.sqrt(), "{found} instead of {most}");
    }
}

#[test]
fn merging_is_the_union_in_any_order() {
    let [a, b, c] = parts();
    let of =
        |first: &AnySketch, second: &AnySketch| CombinedFilter::union(first.clone(), second.clone()).unwrap();
    assert_eq!(of(&a, &b), of(&b, &a));
    assert_eq!(of(&of(&a, &b).into(), &c), of(&a, &of(&b, &c).into()));
    let ab = of(&a, &b);
    let mut twice = ab.clone();
    twice.merge(&ab).unwrap();
    assert_eq!(twice, ab);
    assert_eq!(CombinedFilter::decode(&ab.encode()), Ok(ab));
}

#[test]
fn filters_of_one_size_become_one() {
    let mut first = Bloom::for_items(100, 0.01).unwrap();
    let mut second = first.clone();
    first.insert("ana").unwrap();
    second.insert("rui").unwrap();
    let union = CombinedFilter::union(first.clone().into(), second.clone().into()).unwrap();
    assert_eq!(union.parameters()[0].1, crivo::codec::Parameter::Count(1));
    let other = Bloom::for_items_with_scheme(100, 0.01, crivo::keys::KeyScheme::integers()).unwrap();
    assert_eq!(CombinedFilter::union(first.into(), other.into()).unwrap_err().field(), "key kind");
}

/// Of two filters of one size the number of shared keys is the estimate for intersections.
#[test]
fn shared_keys_are_counted_from_both_filters() {
    let [mut a, mut b] = [(); 2].map(|()| Bloom::for_items(20_000, 0.01).unwrap());
    (0..20_000).step_by(2).for_each(|i: u64| drop(a.insert(format!("{i}").as_str())));
    (0..20_000).step_by(3).for_each(|i: u64| drop(b.insert(format!("{i}").as_str())));
    let shared = a.shared_items(&b).unwrap();
    let both = CombinedFilter::intersection(a.into(), b.into()).unwrap();
    assert_eq!(both.items(), shared);
    assert!(shared.covers(3_334.0));
}
