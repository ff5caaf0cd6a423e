//! Lists that are read where they are: what a query asks of a device that runs programs, and how
//! its answer takes part in the query.
//!
//! The engine says which lists are to be intersected, or ranked, and where their parts are. Whoever
//! implements [`ListOffload`] knows the device: it weighs costs, decides, runs programs through
//! [`crate::device::Offload`], or leaves the work to the engine. What it found takes the place of
//! the lists: each is cut to the documents that were found. All else goes its usual way over these
//! short lists: deleted documents, scores, clauses that only add to the score or exclude.
//!
//! Invariant: without an implementation nothing here runs. A device that fails, or finds what
//! cannot be, costs time and no answer. Memory for its results is reserved before.

use std::{fmt, iter};

use crate::analysis::{FieldId, split_term_key};
use crate::base::{Budget, DocId, END, PAGE_PAYLOAD, PageAddress, Reservation, Span};
use crate::cache::{Pages, Whereabouts};
use crate::postings::{ChunkRef, Fragment, TermList};
use crate::search::lists::OpenLists;
use crate::search::options::{SearchOptions, Ties};
use crate::search::plan::{PlanNode, PlanSlot};
use crate::search::results::OffloadReport;
use crate::search::scoring::bm25::Statistics;
use crate::search::scoring::scorer::Scorer;
use crate::search::view::SearchView;
use crate::storage::IndexIdentity;

/// Bytes that a document found takes while lists are cut: its number, and the coded posting; and
/// those for each list: the frequency as it came, as a number, and coded.
const BYTES_OF_DOC: usize = 16;
const BYTES_OF_FREQUENCY: usize = 24;

/// A value, or why the host does the work.
type Decided<T> = std::result::Result<T, &'static str>;

/// Carries out operations on lists in place of the engine, if it expects a gain.
pub trait ListOffload: fmt::Debug + Send + Sync {
    /// Carries out a task or leaves it. Whatever fails is told in the report.
    fn offload(&self, task: &OffloadTask<'_>) -> (OffloadReport, Option<OffloadFound>);
}

/// Lists to be read.
#[derive(Debug)]
pub struct OffloadTask<'a> {
    /// The identity of the index, by which its pages prove themselves.
    pub identity: IndexIdentity,
    /// The lists, in the order in which scores are added up.
    pub lists: Vec<OffloadList<'a>>,
    /// Set if documents of all lists are wanted, not of any.
    pub all_required: bool,
    /// The most documents that an answer may have.
    pub most_found: usize,
    /// One past the last document.
    pub below: DocId,
    /// The inputs of ranking, if the best documents are enough.
    pub ranking: Option<OffloadRanking>,
}

/// A list.
#[derive(Debug)]
pub struct OffloadList<'a> {
    /// Documents that have the term.
    pub document_frequency: u64,
    /// Parts on the device, in the order of their documents.
    pub chunks: Vec<ChunkRef>,
    /// Parts in memory behind them.
    pub fragments: Vec<&'a Fragment>,
    /// Pages of heads and docs that the chunks have, and how many of them are in memory.
    pub docs_pages: u32,
    /// See there.
    pub pages_in_memory: u32,
}

/// The inputs of scoring documents as the engine does.
#[derive(Debug)]
pub struct OffloadRanking {
    /// The number of best documents wanted.
    pub top: usize,
    /// The weight of each list's term.
    pub weights: Vec<f32>,
    /// The factor of a frequency in a score, for each norm.
    pub inverses: Box<[f32; 256]>,
    /// The addresses of the pages of norms; nothing for those that are all zeros.
    pub norms: Vec<Option<PageAddress>>,
    /// The same of the bits of deleted documents; empty where none is deleted.
    pub deletions: Vec<Option<PageAddress>>,
}

/// Documents that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffloadFound {
    /// Their numbers, ascending.
    pub docs: Vec<DocId>,
    /// Of each list the frequency in each document; 0 where it does not have it.
    pub frequencies: Vec<Vec<u32>>,
    /// Set if these are only the best.
    pub is_ranked: bool,
}

/// The outcome of an offload.
pub struct Offloaded {
    /// The decision and its reason.
    pub report: OffloadReport,
    /// Set if lists were cut to the best documents, so that others match too.
    pub only_best: bool,
    /// The memory of the lists that were cut.
    pub memory: Option<Reservation>,
}

impl Offloaded {
    fn on_host(report: OffloadReport) -> Offloaded {
        Offloaded {
            report,
            only_best: false,
            memory: None,
        }
    }
}

/// A query whose lists a device may read.
pub struct OffloadQuery<'a> {
    /// Its plan.
    pub node: &'a PlanNode,
    /// The snapshot.
    pub view: &'a SearchView,
    /// The statistics by which it is scored.
    pub statistics: &'a Statistics,
    /// Its options.
    pub options: &'a SearchOptions,
}

/// Has the lists of a query read by `device` if it finds that worth it.
pub fn offload(
    device: &dyn ListOffload,
    query: OffloadQuery<'_>,
    lists: &mut OpenLists,
    budget: &Budget,
    pages: &Pages<'_>,
) -> Offloaded {
    let wanted = WantedLists::of(query.node, lists, query.options);
    let done = wanted.and_then(|wanted| {
        let bytes = wanted.bytes(lists, query.view);
        let memory = budget.reserve("lists that a device reads", bytes);
        let memory = memory.map_err(|_| "there is no memory for what might be found")?;
        let (report, found) = wanted.ask(device, lists, &query, pages)?;
        let Some(found) = found else {
            return Ok(Offloaded::on_host(report));
        };
        cut(lists, &wanted.slots, &found);
        Ok(Offloaded {
            report,
            only_best: found.is_ranked,
            memory: Some(memory),
        })
    });
    done.unwrap_or_else(|reason| Offloaded::on_host(OffloadReport::on_host(reason)))
}

/// The lists of a query that are asked for.
struct WantedLists {
    slots: Vec<PlanSlot>,
    all_required: bool,
    /// The boosts of the terms, if the lists and their scores are all that the query is.
    boosts: Option<Vec<f32>>,
    top: usize,
}

impl WantedLists {
    fn of(node: &PlanNode, lists: &OpenLists, options: &SearchOptions) -> Decided<WantedLists> {
        if options.from > 0 || options.below < END {
            return Err("the search is of a part of the documents");
        }
        let Some(joined) = node.as_kind(|kind| kind.joined(node)) else {
            return Err("it is no intersection and no union of words");
        };
        let (is_whole, all_required) = (joined.is_whole(), joined.all_required);
        let (mut slots, mut boosts) = (Vec::new(), Vec::new());
        for part in joined.nodes {
            let Some((slot, boost)) = part.as_kind(|kind| kind.word()) else {
                return Err("it has clauses that are more than one word in one field");
            };
            if slots.contains(&slot) {
                return Err("a word stands twice in it");
            }
            slots.push(slot);
            boosts.push(boost);
        }
        if node.has_phrases() {
            return Err("it has phrases, which need positions");
        }
        let is_known = |slot: &PlanSlot| lists.terms[*slot].is_some();
        if !slots.iter().any(is_known) || all_required && !slots.iter().all(is_known) {
            return Err("a word is in no document");
        }
        let known = slots.iter().zip(boosts).filter(|(slot, _)| is_known(slot));
        let (slots, boosts): (Vec<PlanSlot>, Vec<Option<f32>>) = known.unzip();
        let boosts: Option<Vec<f32>> = boosts.into_iter().collect();
        let by_doc = options.ties == Ties::DocId;
        let is_ranked = is_whole && !options.count && by_doc && options.ranked() > 0;
        let boosts = boosts.filter(|_| is_ranked);
        if boosts.is_none() && (!all_required || slots.len() < 2) {
            return Err(if options.count {
                "the number of all its documents is wanted"
            } else if !by_doc {
                "equal scores are ordered by external IDs"
            } else {
                "its words are in clauses that filter, exclude or only add to the score"
            });
        }
        Ok(WantedLists {
            slots,
            all_required,
            boosts,
            top: options.ranked(),
        })
    }

    /// The most documents that an answer can have.
    fn most_found(&self, lists: &OpenLists) -> usize {
        let open = self
            .slots
            .iter()
            .filter_map(|slot| lists.terms[*slot].as_ref());
        let fewest = open.map(|term| term.list.document_frequency()).min();
        if self.all_required {
            fewest.unwrap_or(0) as usize
        } else {
            self.top
        }
    }

    /// Bytes that the task and its answer take at most.
    fn bytes(&self, lists: &OpenLists, view: &SearchView) -> usize {
        let found = BYTES_OF_DOC + BYTES_OF_FREQUENCY * self.slots.len();
        let pages = view.below as usize / PAGE_PAYLOAD + 1;
        let tables = 2 * pages * size_of::<Option<PageAddress>>();
        self.most_found(lists).saturating_mul(found) + tables
    }

    /// Asks the device.
    fn ask(
        &self,
        device: &dyn ListOffload,
        lists: &OpenLists,
        query: &OffloadQuery<'_>,
        pages: &Pages<'_>,
    ) -> Decided<(OffloadReport, Option<OffloadFound>)> {
        let task = self.task(lists, query, pages)?;
        let (mut report, found) = device.offload(&task);
        let is_wrong = found
            .as_ref()
            .is_some_and(|found| !is_possible(found, &task));
        if is_wrong {
            report.leave("the device found what cannot be, so the host did it".to_owned());
        }
        Ok((report, found.filter(|_| !is_wrong)))
    }

    fn task<'a>(
        &self,
        lists: &'a OpenLists,
        query: &OffloadQuery<'_>,
        pages: &Pages<'_>,
    ) -> Decided<OffloadTask<'a>> {
        let open = self
            .slots
            .iter()
            .filter_map(|slot| lists.terms[*slot].as_ref());
        let each = open.map(|term| list(&term.list, pages));
        let each: Option<Vec<OffloadList<'a>>> = each.collect();
        let ranking = self.ranking(lists, query.view, query.statistics);
        if ranking.is_none() && (!self.all_required || self.slots.len() < 2) {
            return Err("norms or deletions are in memory, or of several fields");
        }
        Ok(OffloadTask {
            identity: pages.identity(),
            lists: each.ok_or("a list is still in the write buffer")?,
            all_required: self.all_required,
            most_found: self.most_found(lists),
            below: query.view.below,
            ranking,
        })
    }

    /// The inputs of ranking, if all of them are on the device and all terms are of one field.
    fn ranking(
        &self,
        lists: &OpenLists,
        view: &SearchView,
        statistics: &Statistics,
    ) -> Option<OffloadRanking> {
        let boosts = self.boosts.as_ref()?;
        let mut field: Option<FieldId> = None;
        let mut weights = Vec::new();
        let mut inverses = Box::new([0.0; 256]);
        for (slot, boost) in self.slots.iter().zip(boosts) {
            let term = lists.terms[*slot].as_ref()?;
            let (its, _) = split_term_key(&term.key).ok()?;
            if *field.get_or_insert(its) != its {
                return None;
            }
            let frequency = iter::once(term.frequency);
            let scorer = Scorer::new(statistics, its, frequency, boost * term.similarity);
            let bm25 = scorer.bm25()?;
            weights.push(bm25.weight);
            *inverses = *bm25.inverses();
        }
        let deletions = match view.dead_documents {
            0 => Vec::new(),
            _ => view.tables.deletion_pages()?,
        };
        Some(OffloadRanking {
            top: self.top,
            weights,
            inverses,
            norms: view.tables.norm_pages(field?)?,
            deletions,
        })
    }
}

/// A list with what of it is in memory; nothing if a page of it is not on the device yet.
fn list<'a>(list: &'a TermList, pages: &Pages<'_>) -> Option<OffloadList<'a>> {
    let (chunks, fragments) = list.parts();
    let (mut docs_pages, mut pages_in_memory) = (0, 0);
    for chunk in &chunks {
        for address in docs_span(chunk).pages() {
            docs_pages += 1;
            match pages.whereabouts(address) {
                Whereabouts::Memory => pages_in_memory += 1,
                Whereabouts::Device => {}
                Whereabouts::WriteBuffer => return None,
            }
        }
    }
    Some(OffloadList {
        document_frequency: list.document_frequency(),
        chunks,
        fragments,
        docs_pages,
        pages_in_memory,
    })
}

/// The bytes of head and docs of a chunk.
pub fn docs_span(chunk: &ChunkRef) -> Span {
    chunk.place.part(0, chunk.docs_length)
}

/// Returns true if documents can be those of a task: in order, not too many, and in a list at least
/// once.
fn is_possible(found: &OffloadFound, task: &OffloadTask<'_>) -> bool {
    let count = found.docs.len();
    let has = |at: usize| {
        let mut each = found.frequencies.iter().map(|all| all[at] > 0);
        if task.all_required {
            each.all(|has| has)
        } else {
            each.any(|has| has)
        }
    };
    count <= task.most_found
        && found.frequencies.len() == task.lists.len()
        && found.frequencies.iter().all(|all| all.len() == count)
        && found.docs.is_sorted_by(|one, next| one < next)
        && found.docs.last().is_none_or(|last| *last < task.below)
        && (0..count).all(has)
}

/// Cuts lists to what was found.
fn cut(lists: &mut OpenLists, slots: &[PlanSlot], found: &OffloadFound) {
    for (slot, frequencies) in slots.iter().zip(&found.frequencies) {
        if let Some(term) = &mut lists.terms[*slot] {
            let postings = found.docs.iter().zip(frequencies);
            let postings = postings.filter(|(_, frequency)| **frequency > 0);
            term.list = term
                .list
                .cut_to(postings.map(|(doc, frequency)| (*doc, *frequency)));
        }
    }
}
