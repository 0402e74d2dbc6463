//! The aspects of the test suite.

use storymeter_core::{Aspect, AspectTest};

#[test]
fn names_go_both_ways() {
    for (at, aspect) in Aspect::ALL.into_iter().enumerate() {
        assert_eq!(aspect.index(), at);
        assert_eq!(aspect.name().parse::<Aspect>().unwrap(), aspect);
        assert_eq!(aspect.file_stem().parse::<Aspect>().unwrap(), aspect);
    }
    let json = serde_json::to_string(&Aspect::CommonSense).unwrap();
    assert_eq!(json, "\"common sense\"");
    assert_eq!(serde_json::from_str::<Aspect>(&json).unwrap(), Aspect::CommonSense);
    let error = "typos".parse::<Aspect>().unwrap_err().to_string();
    assert!(error.contains("did you mean \"typo\"?"), "{error}");
}

#[test]
fn eight_aspects_are_damage_and_six_are_not() {
    let damages = |aspect: &&Aspect| aspect.test() == AspectTest::Discrimination;
    assert_eq!(Aspect::ALL.iter().filter(damages).count(), 8);
    assert_eq!(Aspect::Time.test(), AspectTest::Discrimination);
    assert_eq!(Aspect::ALL.len(), 14);
    assert_eq!(Aspect::Synonym.test(), AspectTest::Invariance);
    assert_eq!(Aspect::Chat.test(), AspectTest::Invariance);
}
