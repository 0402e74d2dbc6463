//! The order in which the default argsort of numpy 1.23 leaves equal values.
//!
//! Published Borda counts were made with it and depend on it, because it is not stable and rank
//! correlations between ten systems have many ties. It is an introsort, which the documentation of
//! numpy and Musser (1997) describe: median of three, Hoare partition that stops on equal values,
//! insertion sort for short ranges, and heapsort when the recursion becomes too deep.

/// Ranges of up to this many elements are sorted by insertion.
const SHORT: usize = 16;

/// Positions of the values in ascending order, with equal values in the order of numpy before 1.25.
///
/// The order is unspecified if a value is NaN.
///
/// ```
/// let order = storymeter_stats::ranking::argsort_numpy_1_23(&[0.3, 0.1, 0.2]);
/// assert_eq!(order, [1, 2, 0]);
/// ```
pub fn argsort_numpy_1_23(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let depth = 2 * values.len().checked_ilog2().unwrap_or(0) as i32;
    let mut waiting = vec![(0, values.len(), depth)];
    while let Some((start, end, depth)) = waiting.pop() {
        sort_range(values, &mut order, (start, end, depth), &mut waiting);
    }
    order
}

/// Sorts `order[start..end]` and pushes the larger part of each partition to `waiting`.
fn sort_range(
    values: &[f64],
    order: &mut [usize],
    (mut start, mut end, mut depth): (usize, usize, i32),
    waiting: &mut Vec<(usize, usize, i32)>,
) {
    // The depth is checked when a range is taken up, not between its partitions.
    if depth < 0 {
        heap_sort(values, &mut order[start..end]);
        return;
    }
    while end - start > SHORT {
        let pivot = partition(values, &mut order[start..end]) + start;
        depth -= 1;
        if pivot - start < end - 1 - pivot {
            waiting.push((pivot + 1, end, depth));
            end = pivot;
        } else {
            waiting.push((start, pivot, depth));
            start = pivot + 1;
        }
    }
    insertion_sort(values, &mut order[start..end]);
}

/// Splits a range around the median of its first, middle and last value, and returns the place of
/// that value.
fn partition(values: &[f64], order: &mut [usize]) -> usize {
    let last = order.len() - 1;
    let middle = last / 2;
    for (a, b) in [(middle, 0), (last, middle), (middle, 0)] {
        if values[order[a]] < values[order[b]] {
            order.swap(a, b);
        }
    }
    let pivot = values[order[middle]];
    order.swap(middle, last - 1);
    let (mut up, mut down) = (0, last - 1);
    loop {
        up += 1;
        while values[order[up]] < pivot {
            up += 1;
        }
        down -= 1;
        while pivot < values[order[down]] {
            down -= 1;
        }
        if up >= down {
            break;
        }
        order.swap(up, down);
    }
    order.swap(up, last - 1);
    up
}

fn insertion_sort(values: &[f64], order: &mut [usize]) {
    for i in 1..order.len() {
        let mut j = i;
        while j > 0 && values[order[j]] < values[order[j - 1]] {
            order.swap(j - 1, j);
            j -= 1;
        }
    }
}

fn heap_sort(values: &[f64], order: &mut [usize]) {
    let n = order.len();
    for root in (0..n / 2).rev() {
        sift_down(values, order, root);
    }
    for end in (1..n).rev() {
        order.swap(0, end);
        sift_down(values, &mut order[..end], 0);
    }
}

fn sift_down(values: &[f64], order: &mut [usize], mut root: usize) {
    let moving = order[root];
    loop {
        let mut child = 2 * root + 1;
        if child >= order.len() {
            break;
        }
        if child + 1 < order.len() && values[order[child]] < values[order[child + 1]] {
            child += 1;
        }
        if values[moving] >= values[order[child]] {
            break;
        }
        order[root] = order[child];
        root = child;
    }
    order[root] = moving;
}
