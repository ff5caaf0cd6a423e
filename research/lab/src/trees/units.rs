//! Nodes of which only what changes is written: BFTL.
//!
//! A change of a node is some *index units*: a key with its value, or a key that is gone. They wait
//! in the *reservation buffer*. When it is full they are packed into as few sectors as possible,
//! those of one node together, and written to the end of the file. The *node translation table*
//! tells in which sectors the units of each node are; a node is put together from them. A node that
//! lies in more than C sectors is gathered. Nodes that are gathered together share sectors, or have
//! their own. Old sectors are left to the translation layer of the device: the file only grows.
//!
//! Source: Wu, Kuo, Chang, "An Efficient B-tree Layer Implementation for Flash-Memory Storage
//! Systems", 2007.
//!
//! ```text
//! sector   groups (2), then groups
//! group    node (4), level (1), 1 if what came before counts no more (1), units (2), then units
//! unit     length of the key (2), key, 1 and value (8), or 0 if the key is gone
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::rc::Rc;

use gannet::{Error, Result};
use gannet_ssd::Work;

use super::Settings;
use super::Value;
use super::btree::Nodes;
use super::cache::Cache;
use super::device::{NodeBytes, NodeFile, Slot};
use super::node::{NODE_BYTES, Node, NodeId};

/// Nodes that were read last, to tell what changed in them. They save no reads, only the work to
/// put them together again.
const REMEMBERED: usize = 64;

/// Sectors of one operation of a recovery.
const RECOVERY_RUN: usize = 128;

const SECTOR_HEADER: usize = 2;
const GROUP_HEADER: usize = 8;

/// What changed: a key, and its value if it is there.
type Unit = (Vec<u8>, Option<Value>);

/// Units of one node.
#[derive(Clone, Debug, Default)]
struct Group {
    node: NodeId,
    level: usize,
    is_whole: bool,
    units: Vec<Unit>,
}

/// Nodes in units.
pub struct Units {
    file: NodeFile,
    cache: Cache<NodeBytes>,
    /// The sectors of each node, the oldest first.
    table: Vec<Vec<Slot>>,
    reserved: BTreeMap<NodeId, Group>,
    reserved_units: usize,
    reserved_most: usize,
    sectors: usize,
    apart: bool,
    end: Slot,
    remembered: VecDeque<(NodeId, Rc<Node>)>,
}

impl Units {
    /// Opens or makes the nodes in a folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Units> {
        let file = NodeFile::open(folder, settings)?;
        let mut nodes = Units {
            end: file.end(),
            file,
            cache: Cache::new(settings.cache),
            table: Vec::new(),
            reserved: BTreeMap::new(),
            reserved_units: 0,
            reserved_most: settings.fan_out,
            sectors: settings.sectors,
            apart: settings.apart,
            remembered: VecDeque::new(),
        };
        nodes.recover()?;
        Ok(nodes)
    }

    fn recover(&mut self) -> Result<()> {
        for from in (0..self.end).step_by(RECOVERY_RUN) {
            let count = RECOVERY_RUN.min((self.end - from) as usize);
            for (slot, bytes) in (from..).zip(self.file.read_run(from, count)?) {
                for group in decode(&bytes, None)? {
                    self.enter(&group, slot);
                }
            }
        }
        Ok(())
    }

    /// Says that a sector has units of a node.
    fn enter(&mut self, group: &Group, slot: Slot) {
        let known = group.node as usize + 1;
        self.table.resize(self.table.len().max(known), Vec::new());
        let sectors = &mut self.table[group.node as usize];
        if group.is_whole {
            sectors.clear();
        }
        if sectors.last() != Some(&slot) {
            sectors.push(slot);
        }
    }

    fn sector(&mut self, slot: Slot) -> Result<Rc<NodeBytes>> {
        if let Some(sector) = self.cache.get(slot) {
            return Ok(sector);
        }
        let sector = Rc::new(self.file.read(slot)?);
        self.cache.put(slot, Rc::clone(&sector));
        Ok(sector)
    }

    /// Puts a node together from its sectors, without what is reserved.
    fn gather(&mut self, id: NodeId) -> Result<Group> {
        let mut keys = BTreeMap::new();
        let mut level = 0;
        for slot in self.table[id as usize].clone() {
            let sector = self.sector(slot)?;
            for group in decode(&sector, Some(id))? {
                level = group.level;
                keys.extend(group.units);
            }
        }
        keys.retain(|_, value: &mut Option<Value>| value.is_some());
        Ok(Group {
            node: id,
            level,
            is_whole: true,
            units: keys.into_iter().collect(),
        })
    }

    /// Writes what is reserved, and gathers nodes that lie in too many sectors then.
    fn commit(&mut self) -> Result<()> {
        let groups: Vec<Group> = std::mem::take(&mut self.reserved).into_values().collect();
        self.reserved_units = 0;
        let nodes: Vec<NodeId> = groups.iter().map(|group| group.node).collect();
        self.append(groups)?;
        let mut whole = Vec::new();
        for node in nodes {
            if self.table[node as usize].len() > self.sectors {
                whole.push(self.gather(node)?);
            }
        }
        let together = if self.apart { 1 } else { whole.len().max(1) };
        while !whole.is_empty() {
            let behind = whole.split_off(together);
            self.append(std::mem::replace(&mut whole, behind))?;
        }
        Ok(())
    }

    /// Writes groups to the end, each to the first sector that has room for it.
    fn append(&mut self, groups: Vec<Group>) -> Result<()> {
        let mut sectors: Vec<(usize, Vec<Group>)> = Vec::new();
        for group in groups.into_iter().flat_map(divided) {
            let length = group.length();
            let with_room = sectors
                .iter_mut()
                .find(|(used, _)| used + length <= NODE_BYTES);
            match with_room {
                Some((used, sector)) => {
                    *used += length;
                    sector.push(group);
                }
                None => sectors.push((SECTOR_HEADER + length, vec![group])),
            }
        }
        let bytes: Vec<NodeBytes> = sectors.iter().map(|(_, groups)| encode(groups)).collect();
        let written: Vec<_> = bytes.iter().map(|sector| &**sector).collect();
        self.file.write_run(self.end, &written)?;
        for ((_, groups), bytes) in sectors.into_iter().zip(bytes) {
            for group in &groups {
                self.enter(group, self.end);
            }
            self.cache.put(self.end, Rc::new(bytes));
            self.end += 1;
        }
        Ok(())
    }

    fn remember(&mut self, id: NodeId, node: Rc<Node>) {
        self.remembered.retain(|(known, _)| *known != id);
        self.remembered.push_back((id, node));
        if self.remembered.len() > REMEMBERED {
            self.remembered.pop_front();
        }
    }
}

impl Nodes for Units {
    fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    fn create(&mut self) -> NodeId {
        self.table.push(Vec::new());
        let id = self.table.len() as NodeId - 1;
        self.remember(id, Rc::new(Node::new(0)));
        id
    }

    fn read(&mut self, id: NodeId) -> Result<Rc<Node>> {
        if self.table.len() <= id as usize {
            return Err(Error::damaged("a tree", format!("node {id} is nowhere")));
        }
        let known = self.remembered.iter().find(|(known, _)| *known == id);
        if let Some(node) = known.map(|(_, node)| Rc::clone(node)) {
            for slot in self.table[id as usize].clone() {
                self.sector(slot)?;
            }
            self.remember(id, Rc::clone(&node));
            return Ok(node);
        }
        let whole = self.gather(id)?;
        let mut keys: BTreeMap<Vec<u8>, Option<Value>> = whole.units.into_iter().collect();
        let mut level = whole.level;
        if let Some(group) = self.reserved.get(&id) {
            level = group.level;
            keys.extend(group.units.iter().cloned());
        }
        let mut node = Node::new(level);
        for (key, value) in keys {
            if let (Some(value), true) = (value, node.fits(key.len())) {
                node.insert(node.len(), &key, value);
            }
        }
        let node = Rc::new(node);
        self.remember(id, Rc::clone(&node));
        Ok(node)
    }

    fn write(&mut self, id: NodeId, node: Node) -> Result<()> {
        let before = self.remembered.iter().find(|(known, _)| *known == id);
        let before = before.map(|(_, node)| Rc::clone(node));
        let before =
            before.ok_or_else(|| Error::invalid("a node was changed that was not read"))?;
        let units = changes(&before, &node);
        let level = node.level();
        self.remember(id, Rc::new(node));
        for unit in units {
            let group = self.reserved.entry(id).or_default();
            (group.node, group.level) = (id, level);
            group.units.push(unit);
            self.reserved_units += 1;
        }
        if self.reserved_units >= self.reserved_most {
            self.commit()
        } else {
            Ok(())
        }
    }

    fn settle(&mut self) -> Result<()> {
        self.commit()
    }

    fn work(&self) -> Work {
        self.file.work()
    }

    fn file_bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// What was remembered to save work and no reads does not count.
    fn memory(&self) -> usize {
        let sectors = self.table.iter().map(Vec::capacity).sum::<usize>() * size_of::<Slot>();
        let table = self.table.capacity() * size_of::<Vec<Slot>>() + sectors;
        let keys = self.reserved.values().flat_map(|group| &group.units);
        let keys: usize = keys.map(|(key, _)| key.capacity()).sum();
        let units = self.reserved_units * size_of::<Unit>() + keys;
        self.cache.memory() + table + units + self.reserved.len() * size_of::<Group>()
    }
}

/// What makes one node of another.
fn changes(before: &Node, after: &Node) -> Vec<Unit> {
    let mut units = Vec::new();
    for at in 0..before.len() {
        if after.find(before.key(at)).is_err() {
            units.push((before.key(at).to_vec(), None));
        }
    }
    for at in 0..after.len() {
        let (key, value) = (after.key(at), after.value(at));
        let same = before.find(key).is_ok_and(|at| before.value(at) == value);
        if !same {
            units.push((key.to_vec(), Some(value)));
        }
    }
    units
}

/// A group in parts of which each fits a sector. Only the first replaces what came before.
fn divided(group: Group) -> Vec<Group> {
    let mut parts = vec![Group {
        units: Vec::new(),
        ..group
    }];
    for unit in group.units {
        let last = parts.len() - 1;
        if SECTOR_HEADER + parts[last].length() + unit_length(&unit) > NODE_BYTES {
            parts.push(Group {
                node: group.node,
                level: group.level,
                ..Group::default()
            });
        }
        let last = parts.len() - 1;
        parts[last].units.push(unit);
    }
    parts
}

fn unit_length((key, value): &Unit) -> usize {
    2 + key.len() + 1 + value.map_or(0, |_| 8)
}

impl Group {
    fn length(&self) -> usize {
        GROUP_HEADER + self.units.iter().map(unit_length).sum::<usize>()
    }
}

fn encode(groups: &[Group]) -> NodeBytes {
    let mut out = Vec::with_capacity(NODE_BYTES);
    out.extend((groups.len() as u16).to_le_bytes());
    for group in groups {
        out.extend(group.node.to_le_bytes());
        out.extend([group.level as u8, u8::from(group.is_whole)]);
        out.extend((group.units.len() as u16).to_le_bytes());
        for (key, value) in &group.units {
            out.extend((key.len() as u16).to_le_bytes());
            out.extend(key);
            out.push(u8::from(value.is_some()));
            out.extend(value.map(Value::to_le_bytes).into_iter().flatten());
        }
    }
    let mut bytes = Box::new([0; NODE_BYTES]);
    bytes[..out.len()].copy_from_slice(&out);
    bytes
}

/// The groups of a sector, or those of one node.
fn decode(bytes: &[u8; NODE_BYTES], wanted: Option<NodeId>) -> Result<Vec<Group>> {
    let mut rest = &bytes[..];
    let mut take = |length: usize| {
        let (taken, behind) = rest
            .split_at_checked(length)
            .ok_or_else(|| Error::damaged("a sector", "expected units within its bytes"))?;
        rest = behind;
        Ok::<_, Error>(taken)
    };
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte))
    };
    let mut groups = Vec::new();
    for _ in 0..number(take(2)?) {
        let mut group = Group {
            node: number(take(4)?) as NodeId,
            level: number(take(1)?) as usize,
            is_whole: number(take(1)?) > 0,
            units: Vec::new(),
        };
        let is_wanted = wanted.is_none_or(|id| id == group.node);
        for _ in 0..number(take(2)?) {
            let length = number(take(2)?) as usize;
            let key = take(length)?;
            let value = match number(take(1)?) {
                0 => None,
                _ => Some(number(take(8)?)),
            };
            if is_wanted {
                group.units.push((key.to_vec(), value));
            }
        }
        if is_wanted {
            groups.push(group);
        }
    }
    Ok(groups)
}
