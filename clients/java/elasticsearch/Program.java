import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.FieldValue;
import co.elastic.clients.elasticsearch._types.Result;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch._types.aggregations.CalendarInterval;
import co.elastic.clients.elasticsearch._types.aggregations.CompositeAggregationSource;
import co.elastic.clients.elasticsearch._types.query_dsl.Operator;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.bulk.BulkOperation;
import co.elastic.clients.elasticsearch.core.search.HighlightField;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.util.NamedValue;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Asks a server what a program asks of Elasticsearch, through elasticsearch-java: Program URL DOCUMENTS. */
public final class Program {
    private interface Step {
        void run() throws Exception;
    }

    private static final List<JsonNode> documents = new ArrayList<>();
    private static ElasticsearchClient client;
    private static int count;
    private static boolean failed;

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    private static void fails(Step step, int status, String type) throws Exception {
        try {
            step.run();
        } catch (ElasticsearchException error) {
            check(error.status() == status && type.equals(error.error().type()), error.toString());
            return;
        }
        throw new IllegalStateException("no " + type);
    }

    private static void step(String name, Step step) {
        try {
            step.run();
        } catch (Throwable error) {
            failed = true;
            int line = Arrays.stream(error.getStackTrace()).filter(e -> e.getClassName().startsWith("Program")).mapToInt(StackTraceElement::getLineNumber).filter(l -> l > 46).findFirst().orElse(0);
            Throwable cause = error.getCause();
            System.out.println(name + ", line " + line + ": " + error + (cause == null ? "" : " / " + cause));
        }
    }

    public static void main(String[] arguments) throws Exception {
        var mapper = new ObjectMapper();
        for (String line : Files.readAllLines(Path.of(arguments[1]))) {
            documents.add(mapper.readTree(line));
        }
        count = documents.size();
        client = ElasticsearchClient.of(c -> c.host(arguments[0]));
        step("about", Program::about);
        step("mapping", Program::mapping);
        step("bulk", Program::bulk);
        step("crud", Program::crud);
        step("queries", Program::queries);
        step("hits", Program::hits);
        step("pages", Program::pages);
        step("aggregations", Program::aggregations);
        step("names", Program::names);
        step("changes", Program::changes);
        step("errors", Program::errors);
        client.close();
        System.exit(failed ? 1 : 0);
    }

    private static void about() throws Exception {
        check(client.ping().value(), "ping");
        check(client.info().tagline().contains("Gannet"), "info");
        check(client.cluster().health().numberOfNodes() == 1, "health");
        check(client.nodes().info().nodes().size() == 1, "nodes");
        check(client.nodes().stats().nodes().size() == 1, "statistics of nodes");
    }

    private static void mapping() throws Exception {
        var made = client.indices().create(c -> c.index("wiki").settings(s -> s.numberOfShards("1")).mappings(m -> m
            .properties("title", p -> p.text(t -> t.fields("raw", f -> f.keyword(k -> k.ignoreAbove(256)))))
            .properties("body", p -> p.text(t -> t.analyzer("english")))
            .properties("kind", p -> p.keyword(k -> k))
            .properties("place", p -> p.long_(l -> l))
            .properties("price", p -> p.double_(d -> d))
            .properties("day", p -> p.date(d -> d))
            .properties("flag", p -> p.boolean_(b -> b))));
        check(made.acknowledged(), "create");
        check(client.indices().exists(e -> e.index("wiki")).value(), "exists");
        check(!client.indices().exists(e -> e.index("none")).value(), "exists");
        var told = client.indices().getMapping(g -> g.index("wiki")).get("wiki").mappings().properties();
        check(told.get("title").text().fields().get("raw").isKeyword(), "mapping");
        check("1".equals(client.indices().getSettings(g -> g.index("wiki")).get("wiki").settings().index().numberOfShards()), "settings");
        var tokens = client.indices().analyze(a -> a.index("wiki").field("body").text("The whales")).tokens();
        check(tokens.size() == 1 && "whale".equals(tokens.get(0).token()), "analyze");
    }

    private static void bulk() throws Exception {
        List<BulkOperation> operations = new ArrayList<>();
        for (JsonNode one : documents) {
            operations.add(BulkOperation.of(o -> o.index(i -> i.index("wiki").id(one.get("id").asText()).document(one))));
        }
        var done = client.bulk(b -> b.operations(operations));
        check(!done.errors() && done.items().size() == count, "bulk");
        var wrong = client.bulk(b -> b.operations(o -> o.index(i -> i.index("wiki").document(Map.of("place", "far")))));
        check(wrong.errors() && "document_parsing_exception".equals(wrong.items().get(0).error().type()), "bulk with an error");
        check(client.count(c -> c.index("wiki")).count() == count, "count");
    }

    private static void crud() throws Exception {
        String id = documents.get(0).get("id").asText();
        check(client.get(g -> g.index("wiki").id(id), JsonNode.class).source().equals(documents.get(0)), "get");
        var written = client.index(i -> i.index("notes").id("1").document(Map.of("text", "one")));
        check(written.result() == Result.Created && written.version() == 1, "index");
        var changed = client.update(u -> u.index("notes").id("1").doc(Map.of("more", 2)), JsonNode.class);
        check(changed.result() == Result.Updated && changed.version() == 2, "update");
        fails(() -> client.index(i -> i.index("notes").id("1").ifSeqNo(written.seqNo()).ifPrimaryTerm(1L).document(Map.of())), 409, "version_conflict_engine_exception");
        fails(() -> client.create(c -> c.index("notes").id("1").document(Map.of())), 409, "version_conflict_engine_exception");
        fails(() -> client.update(u -> u.index("notes").id("2").doc(Map.of()), JsonNode.class), 404, "document_missing_exception");
        check(client.update(u -> u.index("notes").id("3").doc(Map.of("a", 1)).docAsUpsert(true), JsonNode.class).result() == Result.Created, "upsert");
        var many = client.mget(m -> m.index("notes").ids("1", "2"), JsonNode.class).docs();
        check(many.get(0).result().found() && !many.get(1).result().found(), "mget");
        check(client.delete(d -> d.index("notes").id("1")).result() == Result.Deleted, "delete");
        check(client.delete(d -> d.index("notes").id("1")).result() == Result.NotFound, "delete of what is not there");
        check(!client.get(g -> g.index("notes").id("1"), JsonNode.class).found(), "get of what is not there");
        client.indices().delete(d -> d.index("notes"));
    }

    private static Set<String> found(Query query) throws Exception {
        var hits = client.search(s -> s.index("wiki").query(query).size(count), JsonNode.class).hits();
        Set<String> ids = new HashSet<>();
        for (Hit<JsonNode> hit : hits.hits()) {
            ids.add(hit.id());
        }
        check(hits.total().value() == ids.size(), query.toString());
        return ids;
    }

    private static void queries() throws Exception {
        JsonNode seventh = documents.get(7);
        String id = seventh.get("id").asText(), title = seventh.get("title").asText();
        String word = Arrays.stream(title.split(" ")).max(Comparator.comparingInt(String::length)).orElseThrow();
        String low = word.toLowerCase();
        Query kind = Query.of(q -> q.term(t -> t.field("kind").value("odd")));
        check(found(Query.of(q -> q.matchAll(m -> m))).size() == count, "match_all");
        check(found(kind).size() == count / 2, "term");
        check(found(Query.of(q -> q.terms(t -> t.field("place").terms(v -> v.value(List.of(FieldValue.of(3), FieldValue.of(5))))))).size() == 2, "terms");
        check(found(Query.of(q -> q.range(r -> r.number(n -> n.field("price").gte(5.0).lt(15.0))))).size() == 40, "range");
        check(found(Query.of(q -> q.range(r -> r.date(n -> n.field("day").lt("2024-02-01"))))).size() > 0, "range of dates");
        check(found(Query.of(q -> q.exists(e -> e.field("title")))).size() == count, "exists");
        check(found(Query.of(q -> q.ids(i -> i.values(id)))).size() == 1, "ids");
        check(found(Query.of(q -> q.constantScore(c -> c.filter(kind)))).size() == count / 2, "constant_score");
        check(found(Query.of(q -> q.bool(b -> b.mustNot(kind)))).size() == count / 2, "must_not");
        Query match = Query.of(q -> q.match(m -> m.field("title").query(title).operator(Operator.And)));
        for (Query query : List.of(
            match,
            Query.of(q -> q.matchPhrase(m -> m.field("title").query(title))),
            Query.of(q -> q.matchPhrasePrefix(m -> m.field("title").query(title.substring(0, title.length() - 1)))),
            Query.of(q -> q.multiMatch(m -> m.query(word).fields("title^2", "body"))),
            Query.of(q -> q.term(t -> t.field("title.raw").value(title))),
            Query.of(q -> q.prefix(p -> p.field("title").value(low.substring(0, 3)))),
            Query.of(q -> q.wildcard(w -> w.field("title").value(low.substring(0, 3) + "*"))),
            Query.of(q -> q.queryString(s -> s.query("title:" + word))),
            Query.of(q -> q.bool(b -> b.must(match).filter(kind))),
            Query.of(q -> q.disMax(d -> d.queries(match, kind))))) {
            check(found(query).contains(id), query.toString());
        }
    }

    private static void hits() throws Exception {
        var hit = client.search(s -> s.index("wiki").query(q -> q.match(m -> m.field("title").query("chapter")))
            .highlight(h -> h.fields(NamedValue.of("title", HighlightField.of(f -> f)))).source(c -> c.filter(f -> f.includes("title")))
            .docvalueFields(d -> d.field("day").format("yyyy")).fields(f -> f.field("kind")).size(1), JsonNode.class).hits().hits().get(0);
        check(hit.source().size() == 1 && hit.highlight().get("title").get(0).contains("<em>"), "highlight");
        check(hit.fields().get("day").toJson().asJsonArray().size() == 1, "docvalue_fields");
        List<FieldValue> after = List.of();
        int met = 0;
        while (true) {
            List<FieldValue> behind = after;
            var page = client.search(s -> {
                s.index("wiki").sort(o -> o.field(f -> f.field("place").order(SortOrder.Desc))).size(150);
                return behind.isEmpty() ? s : s.searchAfter(behind);
            }, JsonNode.class).hits().hits();
            if (page.isEmpty()) {
                break;
            }
            met += page.size();
            after = page.get(page.size() - 1).sort();
        }
        check(met == count, "search_after");
        check(client.search(s -> s.index("wiki").collapse(c -> c.field("kind")), JsonNode.class).hits().hits().size() == 2, "collapse");
    }

    private static void pages() throws Exception {
        var page = client.search(s -> s.index("wiki").scroll(t -> t.time("1m")).size(150), JsonNode.class);
        String id = page.scrollId();
        int met = page.hits().hits().size();
        while (true) {
            int size = client.scroll(s -> s.scrollId(id).scroll(t -> t.time("1m")), JsonNode.class).hits().hits().size();
            met += size;
            if (size == 0) {
                break;
            }
        }
        check(met == count && client.clearScroll(c -> c.scrollId(id)).succeeded(), "scroll");
        String pit = client.openPointInTime(o -> o.index("wiki").keepAlive(t -> t.time("1m"))).id();
        var at = client.search(s -> s.pit(p -> p.id(pit).keepAlive(t -> t.time("1m"))).size(5), JsonNode.class);
        check(at.hits().hits().size() == 5 && at.pitId() != null, "point in time");
        check(client.closePointInTime(c -> c.id(pit)).succeeded(), "close");
        var many = client.msearch(m -> m.searches(s -> s.header(h -> h.index("wiki")).body(b -> b.size(1).aggregations("k", a -> a.terms(t -> t.field("kind")))))
            .searches(s -> s.header(h -> h.index("none")).body(b -> b)), JsonNode.class).responses();
        check(many.get(0).result().aggregations().get("k").isSterms() && many.get(1).isFailure(), "msearch");
    }

    private static void aggregations() throws Exception {
        Query odd = Query.of(q -> q.term(t -> t.field("kind").value("odd")));
        var of = client.search(s -> s.index("wiki").size(0)
            .aggregations("kinds", a -> a.terms(t -> t.field("kind")).aggregations("mean", m -> m.avg(v -> v.field("price"))))
            .aggregations("places", a -> a.terms(t -> t.field("place")))
            .aggregations("prices", a -> a.terms(t -> t.field("price")))
            .aggregations("months", a -> a.dateHistogram(d -> d.field("day").calendarInterval(CalendarInterval.Month)))
            .aggregations("steps", a -> a.histogram(h -> h.field("price").interval(25.0)))
            .aggregations("ranges", a -> a.range(r -> r.field("price").ranges(v -> v.to(10.0))))
            .aggregations("odd", a -> a.filter(odd))
            .aggregations("both", a -> a.filters(f -> f.filters(b -> b.keyed(Map.of("a", odd)))))
            .aggregations("less", a -> a.missing(m -> m.field("kind")))
            .aggregations("all", a -> a.global(g -> g))
            .aggregations("stats", a -> a.stats(v -> v.field("price")))
            .aggregations("more", a -> a.extendedStats(v -> v.field("price")))
            .aggregations("many", a -> a.cardinality(v -> v.field("place")))
            .aggregations("half", a -> a.percentiles(v -> v.field("price").percents(50.0)))
            .aggregations("pairs", a -> a.composite(c -> c.sources(NamedValue.of("k", CompositeAggregationSource.of(o -> o.terms(t -> t.field("kind"))))))), JsonNode.class).aggregations();
        var kinds = of.get("kinds").sterms().buckets().array();
        check(kinds.size() == 2 && kinds.get(0).aggregations().get("mean").avg().value() > 0, "terms");
        check(of.get("places").isLterms() && of.get("prices").isDterms(), "terms of numbers");
        check(of.get("months").dateHistogram().buckets().array().size() > 1, "date_histogram");
        check(of.get("steps").histogram().buckets().array().size() == 4, "histogram");
        check(of.get("ranges").range().buckets().array().get(0).docCount() == 40, "range");
        check(of.get("odd").filter().docCount() == count / 2, "filter");
        check(of.get("both").filters().buckets().keyed().get("a").docCount() == count / 2, "filters");
        check(of.get("less").missing().docCount() == 0 && of.get("all").global().docCount() == count, "missing");
        check(of.get("stats").stats().count() == count && of.get("more").extendedStats().count() == count, "stats");
        check(of.get("many").cardinality().value() == count, "cardinality");
        check(of.get("half").tdigestPercentiles() != null, "percentiles");
        check(of.get("pairs").composite().buckets().array().size() == 2, "composite");
    }

    private static void names() throws Exception {
        client.indices().updateAliases(u -> u.actions(a -> a.add(d -> d.index("wiki").alias("now"))));
        check(client.indices().getAlias(g -> g.name("now")).aliases().size() == 1, "alias");
        String body = "{\"index_patterns\":[\"logs-*\"],\"priority\":10,\"template\":{\"mappings\":{\"properties\":{\"kind\":{\"type\":\"keyword\"}}}}}";
        client.indices().putIndexTemplate(p -> p.name("logs").withJson(new StringReader(body)));
        check(client.indices().getIndexTemplate(g -> g.name("logs")).indexTemplates().size() == 1, "template");
        client.indices().deleteIndexTemplate(d -> d.name("logs"));
        check(client.fieldCaps(f -> f.index("wiki").fields("*")).fields().get("place").get("long").aggregatable(), "field_caps");
        Query query = Query.of(q -> q.match(m -> m.field("kind").query("odd")));
        String id = documents.get(1).get("id").asText();
        check(client.explain(e -> e.index("wiki").id(id).query(query), JsonNode.class).matched(), "explain");
        check(client.indices().validateQuery(v -> v.index("wiki").query(query)).valid(), "validate");
        check("wiki".equals(client.cat().indices().indices().get(0).index()), "cat");
        check(client.indices().stats(s -> s.index("wiki")).indices().get("wiki").primaries().docs().count() == count, "stats");
    }

    private static void changes() throws Exception {
        Query odd = Query.of(q -> q.term(t -> t.field("kind").value("odd")));
        check(client.reindex(r -> r.source(s -> s.index("wiki")).dest(d -> d.index("copy"))).created() == count, "reindex");
        check(client.deleteByQuery(d -> d.index("copy").query(odd)).deleted() == count / 2, "delete_by_query");
        check(client.updateByQuery(u -> u.index("copy")).updated() == count / 2, "update_by_query");
        client.indices().refresh(r -> r.index("copy"));
        client.indices().flush(f -> f.index("copy"));
        client.indices().forcemerge(f -> f.index("copy"));
        client.indices().delete(d -> d.index("copy"));
    }

    private static void errors() throws Exception {
        fails(() -> client.search(s -> s.index("none"), JsonNode.class), 404, "index_not_found_exception");
        fails(() -> client.indices().create(c -> c.index("wiki")), 400, "resource_already_exists_exception");
        fails(() -> client.search(s -> s.index("wiki").withJson(new StringReader("{\"query\":{\"geo_shape\":{\"a\":{}}}}")), JsonNode.class), 400, "parsing_exception");
        fails(() -> client.index(i -> i.index("wiki").document(Map.of("place", "far"))), 400, "document_parsing_exception");
        fails(() -> client.ilm().getLifecycle(), 400, "illegal_argument_exception");
        check(client.indices().delete(d -> d.index("wiki")).acknowledged(), "delete");
    }
}
