//! The state of a run, apart from its tables: buckets by their keys, with what is below them.

use gannet_values::long_of_key;

use super::composite::CompositeNode;
use super::context::Context;
use super::finder::Finder;
use super::node::{Node, Work};
use crate::memory::Full;
use crate::state::{BucketState, Key, MetricState, NodeState, PortableNumber};
use crate::table::BucketKey;
use crate::tree::{Aggregation, Aggregations};
use crate::values::number_of;

/// A node with its buckets in the order of the buckets above.
struct View<'a> {
    own: &'a Aggregation,
    node: &'a Node,
    order: Vec<u32>,
    children: Vec<View<'a>>,
}

pub(super) fn export(
    tree: &Aggregations,
    nodes: &[Node],
    context: &mut Context<'_>,
) -> Result<Vec<NodeState>, Full> {
    context.ledger.add(bytes(nodes))?;
    let views = views(tree, nodes);
    let is_whole = context.is_whole;
    Ok(views.iter().map(|view| view.state(0, is_whole)).collect())
}

/// Returns the bytes of all buckets as they will be.
fn bytes(nodes: &[Node]) -> usize {
    let of = |node: &Node| {
        let buckets = match &node.work {
            Work::Metric(_) | Work::Hashing(_) => return 0,
            Work::Buckets(own) => own.table.len(),
            Work::Composite(own) => own.len() * own.sources.len(),
        };
        // A number in the order, and a bucket with its children.
        let each = size_of::<u32>() + size_of::<BucketState>();
        let children = node.children.len() * size_of::<NodeState>();
        buckets * (each + children) + bytes(&node.children)
    };
    nodes.iter().map(of).sum()
}

fn views<'a>(tree: &'a Aggregations, nodes: &'a [Node]) -> Vec<View<'a>> {
    let pairs = tree.list.iter().zip(nodes);
    let view = |(own, node): (&'a Aggregation, &'a Node)| {
        let mut order = Vec::new();
        if let Work::Buckets(buckets) = &node.work {
            let keys = buckets.table.keys();
            order.extend(0..keys.len() as u32);
            order.sort_by_key(|bucket| keys[*bucket as usize].parent);
        }
        View {
            own,
            node,
            order,
            children: views(&own.children, &node.children),
        }
    };
    pairs.map(view).collect()
}

impl View<'_> {
    /// Returns what was found in a bucket above.
    fn state(&self, above: u32, is_whole: bool) -> NodeState {
        match &self.node.work {
            Work::Metric(metric) => found(&metric.found, above)
                .map_or_else(|| self.own.empty(is_whole), NodeState::Metric),
            Work::Hashing(hashing) => found(&hashing.found, above)
                .map_or_else(|| self.own.empty(is_whole), NodeState::Metric),
            Work::Composite(composite) => self.combinations(composite, is_whole),
            Work::Buckets(_) => self.buckets(above, is_whole),
        }
    }

    fn bucket(&self, key: Key, count: u64, bucket: u32, is_whole: bool) -> BucketState {
        let children = self.children.iter();
        BucketState {
            key,
            count,
            children: children
                .map(|child| child.state(bucket, is_whole))
                .collect(),
        }
    }

    fn combinations(&self, composite: &CompositeNode, is_whole: bool) -> NodeState {
        let chosen = (0..).zip(&composite.chosen);
        let mut buckets: Vec<BucketState> = chosen
            .map(|(bucket, own)| {
                self.bucket(Key::Composite(own.key.clone()), own.count, bucket, is_whole)
            })
            .collect();
        buckets.sort_by(|one, other| one.key.cmp(&other.key));
        NodeState::Buckets(buckets, 0)
    }

    fn buckets(&self, above: u32, is_whole: bool) -> NodeState {
        let Work::Buckets(own) = &self.node.work else {
            return self.own.empty(is_whole);
        };
        let keys = own.table.keys();
        let parent = |bucket: &u32| keys[*bucket as usize].parent;
        let begin = self.order.partition_point(|bucket| parent(bucket) < above);
        let end = self.order.partition_point(|bucket| parent(bucket) <= above);
        let mut buckets: Vec<BucketState> = self.order[begin..end]
            .iter()
            .map(|bucket| {
                let term = own.term(*bucket);
                let key = key(&own.finder, keys[*bucket as usize], term);
                let count = own
                    .counts
                    .get(*bucket as usize)
                    .copied()
                    .unwrap_or_default();
                self.bucket(key, count, *bucket, is_whole)
            })
            .collect();
        let kept: u64 = buckets.iter().map(|bucket| bucket.count).sum();
        let left = match &own.cut {
            Some(cut) if !is_whole => {
                let total = cut.totals.get(above as usize).copied().unwrap_or_default();
                total.saturating_sub(kept)
            }
            _ => 0,
        };
        buckets.sort_by(|one, other| one.key.cmp(&other.key));
        self.own.add_fixed(&mut buckets, is_whole);
        NodeState::Buckets(buckets, left)
    }
}

fn found(found: &[MetricState], above: u32) -> Option<MetricState> {
    found.get(above as usize).cloned()
}

fn key(finder: &Finder, key: BucketKey, term: Option<&str>) -> Key {
    match finder {
        Finder::Terms(own) if own.field_type.has_strings() => {
            Key::Term(term.unwrap_or_default().into())
        }
        Finder::Terms(own) => match number_of(own.field_type, (key.class, key.key)) {
            Some(number) => Key::Number(PortableNumber(number)),
            None => Key::Missing,
        },
        Finder::Histogram(_) => Key::Index(long_of_key(key.key)),
        Finder::Dates(_) => {
            let begin = long_of_key(key.key);
            Key::Number(PortableNumber(gannet_values::Number::Long(begin)))
        }
        _ => Key::Index(key.key as i64),
    }
}
