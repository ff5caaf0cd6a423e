import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hc.core5.http.HttpHost;
import org.opensearch.client.opensearch.OpenSearchClient;
import org.opensearch.client.opensearch._types.FieldValue;
import org.opensearch.client.opensearch._types.OpenSearchException;
import org.opensearch.client.opensearch.core.bulk.BulkOperation;
import org.opensearch.client.transport.httpclient5.ApacheHttpClient5TransportBuilder;

/** Tries opensearch-java, whose info() needs a server that says it is OpenSearch: Program URL DOCUMENTS. */
public final class Program {
    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    public static void main(String[] arguments) throws Exception {
        var mapper = new ObjectMapper();
        List<JsonNode> documents = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[1]))) {
            documents.add(mapper.readTree(line));
        }
        int count = documents.size();
        try (var transport = ApacheHttpClient5TransportBuilder.builder(HttpHost.create(arguments[0])).build()) {
            var client = new OpenSearchClient(transport);
            check(client.ping().value(), "ping");
            var made = client.indices().create(c -> c.index("wiki").mappings(m -> m
                .properties("title", p -> p.text(t -> t))
                .properties("kind", p -> p.keyword(k -> k))
                .properties("price", p -> p.double_(d -> d))));
            check(made.acknowledged(), "create");
            List<BulkOperation> operations = new ArrayList<>();
            for (JsonNode one : documents) {
                operations.add(BulkOperation.of(o -> o.index(i -> i.index("wiki").id(one.get("id").asText()).document(one))));
            }
            var done = client.bulk(b -> b.operations(operations));
            check(!done.errors() && done.items().size() == count, "bulk");
            var found = client.search(s -> s.index("wiki").query(q -> q.term(t -> t.field("kind").value(FieldValue.of("odd"))))
                .aggregations("kinds", a -> a.terms(t -> t.field("kind")).aggregations("mean", m -> m.avg(v -> v.field("price"))))
                .aggregations("prices", a -> a.stats(t -> t.field("price"))), JsonNode.class);
            check(found.hits().total().value() == count / 2, "search");
            var kinds = found.aggregations().get("kinds").sterms().buckets().array();
            check(kinds.size() == 1 && kinds.get(0).aggregations().get("mean").avg().value() > 0, "terms");
            check(found.aggregations().get("prices").stats().count() == count / 2, "stats");
            try {
                client.search(s -> s.index("none"), JsonNode.class);
                check(false, "no error for an index that is not there");
            } catch (OpenSearchException error) {
                check(error.status() == 404 && "index_not_found_exception".equals(error.error().type()), error.toString());
            }
            check(client.indices().delete(d -> d.index("wiki")).acknowledged(), "delete");
        }
        System.exit(0);
    }
}
