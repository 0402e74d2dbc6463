//! The numbers behind the streams of random numbers.

use std::collections::HashMap;

use rand_chacha::rand_core::Rng;
use storymeter_core::rng::{CounterId, StreamId};

/// The samples of a seed are published, so the numbers behind the names must never move.
#[test]
fn every_stream_keeps_its_numbers() {
    let (record, epoch) = (41, 3);
    for (id, numbers) in [
        (StreamId::Draw { record, draw: 2 }, [41, 2]),
        (StreamId::Split { record }, [41, u64::MAX]),
        (StreamId::DevNegative { record }, [41, u64::MAX - 1]),
        (StreamId::CalibrationNegative { record }, [41, u64::MAX - 3]),
        (StreamId::Twin { record, aspect: 2 }, [41, u64::MAX - 6]),
        (StreamId::BorrowedReference { record }, [41, u64::MAX - 67]),
        (StreamId::SelfBleuSample { record }, [41, 0]),
        (StreamId::EpochOrder { epoch }, [u64::MAX, 3]),
        (StreamId::BatchOrder { epoch, chunk: 0 }, [u64::MAX - 1, 3]),
        (StreamId::BatchOrder { epoch, chunk: 5 }, [u64::MAX - 6, 3]),
        (StreamId::WrongContinuations { draw: 4 }, [u64::MAX - 1, 4]),
        (StreamId::SystemPair { pair: 8 }, [8, 0]),
        (StreamId::BiasedSet { set: 4, draw: 9 }, [4, 9]),
    ] {
        assert_eq!(id.numbers(), numbers, "{id:?}");
    }
    let path = |id: CounterId| {
        id.descend(Vec::new(), |mut path, number| {
            path.push(number);
            path
        })
    };
    let view = |stream| path(CounterId::View(stream));
    assert_eq!(view(StreamId::Draw { record, draw: 2 }), [u64::MAX - 2, 41, 2]);
    assert_eq!(view(StreamId::DevNegative { record }), [u64::MAX - 2, 41, u64::MAX - 1]);
    let typos = CounterId::Typos(StreamId::Draw { record, draw: 2 });
    assert_eq!(path(typos), [u64::MAX - 4, 41, 2]);
    assert_eq!(path(CounterId::NewHeads), [u64::MAX]);
    assert_eq!(path(CounterId::Tuning), [u64::MAX - 3]);
    assert_eq!(path(CounterId::Dropout { epoch, step: 6 }), [3, 6]);
}

#[test]
fn streams_of_one_run_of_training_never_meet() {
    let records = (0..50).flat_map(|record| {
        let draws = (0..20).map(move |draw| StreamId::Draw { record, draw });
        draws.chain([
            StreamId::Split { record },
            StreamId::DevNegative { record },
            StreamId::CalibrationNegative { record },
        ])
    });
    let orders = (0..20).flat_map(|epoch| {
        let chunks = (0..20).map(move |chunk| StreamId::BatchOrder { epoch, chunk });
        chunks.chain([StreamId::EpochOrder { epoch }])
    });
    let mut seen = HashMap::new();
    for id in records.chain(orders) {
        let twin = seen.insert(id.rng(7).next_u64(), id);
        assert_eq!(twin, None, "{id:?}");
    }
    assert_eq!(seen.len(), 50 * 23 + 20 * 21);
}
