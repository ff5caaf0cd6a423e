import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.http.HttpHost;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.action.bulk.BulkRequest;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchScrollRequest;
import org.elasticsearch.client.RequestOptions;
import org.elasticsearch.client.RestClient;
import org.elasticsearch.client.RestHighLevelClientBuilder;
import org.elasticsearch.client.indices.CreateIndexRequest;
import org.elasticsearch.client.indices.GetIndexRequest;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.search.aggregations.AggregationBuilders;
import org.elasticsearch.search.aggregations.bucket.histogram.Histogram;
import org.elasticsearch.search.aggregations.bucket.terms.Terms;
import org.elasticsearch.search.aggregations.metrics.Avg;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.xcontent.XContentType;

/** Tries RestHighLevelClient of version 7 as it talks to servers of version 8: Program URL DOCUMENTS. */
public final class Program {
    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    public static void main(String[] arguments) {
        try {
            run(arguments);
        } catch (Exception error) {
            System.out.println(error);
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        RequestOptions options = RequestOptions.DEFAULT;
        List<String> lines = Files.readAllLines(Path.of(arguments[1]));
        try (var client = new RestHighLevelClientBuilder(RestClient.builder(HttpHost.create(arguments[0])).build()).setApiCompatibilityMode(true).build()) {
            check(client.ping(options), "ping");
            check(client.info(options).getTagline().contains("Gannet"), "info");
            String mapping = "{\"properties\":{\"title\":{\"type\":\"text\"},\"kind\":{\"type\":\"keyword\"},\"price\":{\"type\":\"double\"}}}";
            var made = client.indices().create(new CreateIndexRequest("wiki").mapping(mapping, XContentType.JSON), options);
            check(made.isAcknowledged(), "create");
            check(client.indices().exists(new GetIndexRequest("wiki"), options), "exists");
            var bulk = new BulkRequest();
            for (int n = 0; n < lines.size(); n++) {
                bulk.add(new IndexRequest("wiki").id(Integer.toString(n)).source(lines.get(n), XContentType.JSON));
            }
            var done = client.bulk(bulk, options);
            check(!done.hasFailures() && done.getItems().length == lines.size(), "bulk");
            check(client.get(new GetRequest("wiki", "7"), options).isExists(), "get");
            check(!client.get(new GetRequest("wiki", "none"), options).isExists(), "get of what is not there");
            var source = new SearchSourceBuilder()
                .query(QueryBuilders.boolQuery().must(QueryBuilders.matchAllQuery()).filter(QueryBuilders.termQuery("kind", "odd")))
                .trackTotalHits(true)
                .aggregation(AggregationBuilders.terms("kinds").field("kind").subAggregation(AggregationBuilders.avg("mean").field("price")))
                .aggregation(AggregationBuilders.histogram("prices").field("price").interval(25));
            var found = client.search(new SearchRequest("wiki").source(source), options);
            check(found.getHits().getTotalHits().value == lines.size() / 2, "search");
            Terms kinds = found.getAggregations().get("kinds");
            Avg mean = kinds.getBuckets().get(0).getAggregations().get("mean");
            Histogram prices = found.getAggregations().get("prices");
            check(mean.getValue() > 0 && prices.getBuckets().size() == 4, "aggregations");
            var all = new SearchRequest("wiki").source(new SearchSourceBuilder().size(150)).scroll(TimeValue.timeValueMinutes(1));
            var page = client.search(all, options);
            int met = 0;
            while (page.getHits().getHits().length > 0) {
                met += page.getHits().getHits().length;
                var next = new SearchScrollRequest(page.getScrollId()).scroll(TimeValue.timeValueMinutes(1));
                page = client.scroll(next, options);
            }
            check(met == lines.size(), "scroll");
            try {
                client.search(new SearchRequest("none"), options);
                check(false, "no error for an index that is not there");
            } catch (ElasticsearchStatusException error) {
                check(error.status().getStatus() == 404, error.toString());
            }
        }
    }
}
