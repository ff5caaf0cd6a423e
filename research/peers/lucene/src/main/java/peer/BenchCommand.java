package peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.uhighlight.UnifiedHighlighter;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.ReadAdvice;
import org.apache.lucene.util.Version;

/** {@code bench DIR QUERIES.tsv}: top k by BM25 for lines {@code term|and|or|phrase<TAB>words} on the field body. */
final class BenchCommand {
    /** As many queries as {@code --dump} writes. */
    private static final int DUMPED = 200;

    private final IndexSearcher searcher;
    private final UnifiedHighlighter highlighter;
    private final List<Query> queries;
    private final int k;
    private final boolean count;
    private final boolean fetch;

    private BenchCommand(IndexSearcher searcher, List<Query> queries, Options options) {
        this.searcher = searcher;
        this.queries = queries;
        this.k = (int) options.number("-k", 10);
        this.count = options.has("--count");
        this.fetch = options.has("--fetch");
        this.highlighter = UnifiedHighlighter.builder(searcher, new StandardAnalyzer()).build();
    }

    static Json run(Options options) throws Exception {
        List<Query> queries = parse(Files.readAllLines(Path.of(options.places().get(1))));
        Usage before = Usage.now();
        long start = System.nanoTime();
        MMapDirectory directory = new MMapDirectory(Path.of(options.places().get(0)));
        if (options.has("--random-advice")) {
            directory.setReadAdvice((name, context) -> Optional.of(ReadAdvice.RANDOM));
        }
        try (directory; DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            // Every query is answered from the index, as in the other engines.
            searcher.setQueryCache(null);
            BenchCommand bench = new BenchCommand(searcher, queries, options);
            double openMs = (System.nanoTime() - start) / 1e6;
            Json figures = bench.measure(options, before, openMs, reader.leaves().size());
            if (options.has("--dump")) {
                Files.writeString(Path.of(options.text("--dump")), bench.dump());
            }
            return figures;
        }
    }

    private Json measure(Options options, Usage before, double openMs, int segments) throws Exception {
        int threads = (int) options.number("--threads", 1);
        Double warm = options.seconds("--warm");
        Double seconds = options.seconds("--seconds");
        boolean distinct = options.has("--distinct");
        Usage opened = Usage.now();
        long limit = seconds != null && !distinct ? Long.MAX_VALUE : queries.size();
        AtomicLong next = new AtomicLong();
        if (warm != null) {
            drive(threads, warm, seconds == null ? Long.MAX_VALUE : limit, next);
        }
        if (seconds == null) {
            next.set(0);
        }
        Usage started = Usage.now();
        long start = System.nanoTime();
        long[] latencies = drive(threads, seconds, limit, next);
        double elapsed = (System.nanoTime() - start) / 1e9;
        Usage used = Usage.now().since(started);
        double each = 1.0 / Math.max(1, latencies.length);
        return new Json()
                .put("engine", "lucene")
                .put("version", Version.LATEST.toString())
                .put("queries", latencies.length)
                .put("qps", latencies.length / elapsed)
                .put("latency_us_mean", LongStream.of(latencies).sum() * each)
                .put("latency_us_p50", percentile(latencies, 0.50))
                .put("latency_us_p95", percentile(latencies, 0.95))
                .put("latency_us_p99", percentile(latencies, 0.99))
                .put("bytes_read_per_query", new Json().put("os", used.bytesRead() * each).put("engine", null))
                .put("major_faults_per_query", used.majorFaults() * each)
                .put("reads_per_query", null)
                .put("rounds_per_query", null)
                .put("cpu_us_per_query", used.cpuSeconds() * 1e6 * each)
                .put("open_ms", openMs)
                .put("open_bytes_read", opened.since(before).bytesRead())
                .put("peak_memory_bytes", Usage.peakResidentBytes())
                .put("backend", "mmap")
                .put("settings", new Json()
                        .put("threads", threads)
                        .put("seconds", seconds)
                        .put("warm_seconds", warm)
                        .put("k", k)
                        .put("count", count)
                        .put("fetch", fetch)
                        .put("distinct", distinct)
                        .put("random_advice", options.has("--random-advice"))
                        .put("segments", segments)
                        .put("distinct_queries", queries.size())
                        .put("heap_bytes", Runtime.getRuntime().maxMemory())
                        .put("java", System.getProperty("java.version")));
    }

    /** Asks from several threads until the time is over or the numbers are used up; the times in microseconds, ascending. */
    private long[] drive(int threads, Double seconds, long limit, AtomicLong next) throws Exception {
        long end = seconds == null ? Long.MAX_VALUE : System.nanoTime() + (long) (seconds * 1e9);
        Callable<LongStream> worker = () -> {
            LongStream.Builder latencies = LongStream.builder();
            while (System.nanoTime() < end) {
                long number = next.getAndIncrement();
                if (number >= limit) {
                    break;
                }
                long start = System.nanoTime();
                answer(queries.get((int) (number % queries.size())));
                latencies.add((System.nanoTime() - start) / 1000);
            }
            return latencies.build();
        };
        try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
            List<Future<LongStream>> started = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                started.add(workers.submit(worker));
            }
            LongStream all = LongStream.empty();
            for (Future<LongStream> one : started) {
                all = LongStream.concat(all, one.get());
            }
            long[] latencies = all.toArray();
            Arrays.sort(latencies);
            return latencies;
        }
    }

    /** The best documents, none where they are only counted; with {@code --fetch} also their stored text and a snippet of the body. */
    private TopDocs answer(Query query) throws IOException {
        if (k == 0) {
            return new TopDocs(new TotalHits(searcher.count(query), TotalHits.Relation.EQUAL_TO), new ScoreDoc[0]);
        }
        int threshold = count ? Integer.MAX_VALUE : k;
        TopDocs top = searcher.search(query, new TopScoreDocCollectorManager(k, threshold));
        if (fetch && top.scoreDocs.length > 0) {
            StoredFields stored = searcher.storedFields();
            for (ScoreDoc hit : top.scoreDocs) {
                stored.document(hit.doc);
            }
            highlighter.highlight("body", query, top);
        }
        return top;
    }

    /** One JSON line for each of the first queries: the external IDs and scores in order. */
    private String dump() throws IOException {
        StringBuilder lines = new StringBuilder();
        StoredFields stored = searcher.storedFields();
        for (int number = 0; number < Math.min(DUMPED, queries.size()); number++) {
            List<String> hits = new ArrayList<>();
            for (ScoreDoc hit : answer(queries.get(number)).scoreDocs) {
                String id = stored.document(hit.doc, Set.of("id")).get("id");
                hits.add(new Json().put("id", id).put("score", hit.score).toString());
            }
            lines.append(new Json().put("query", number).put("hits", hits)).append('\n');
        }
        return lines.toString();
    }

    private static List<Query> parse(List<String> lines) throws IOException {
        List<Query> queries = new ArrayList<>();
        for (String line : lines) {
            if (line.isBlank()) {
                continue;
            }
            String[] parts = line.split("\t", 2);
            if (parts.length < 2) {
                throw new IllegalArgumentException("no tab in query line " + line);
            }
            List<Term> terms = terms(parts[1]);
            if (!terms.isEmpty()) {
                queries.add(query(parts[0], terms));
            }
        }
        if (queries.isEmpty()) {
            throw new IllegalArgumentException("no queries in the file");
        }
        return queries;
    }

    private static List<Term> terms(String words) throws IOException {
        List<Term> terms = new ArrayList<>();
        try (StandardAnalyzer analyzer = new StandardAnalyzer();
                TokenStream stream = analyzer.tokenStream("body", words)) {
            CharTermAttribute text = stream.addAttribute(CharTermAttribute.class);
            stream.reset();
            while (stream.incrementToken()) {
                terms.add(new Term("body", text.toString()));
            }
            stream.end();
        }
        return terms;
    }

    private static Query query(String kind, List<Term> terms) {
        BooleanClause.Occur occur = switch (kind) {
            case "term", "or" -> BooleanClause.Occur.SHOULD;
            case "and", "phrase" -> BooleanClause.Occur.MUST;
            default -> throw new IllegalArgumentException("unknown kind of query " + kind);
        };
        if (terms.size() == 1) {
            return new TermQuery(terms.getFirst());
        }
        if (kind.equals("phrase")) {
            return new PhraseQuery("body", terms.stream().map(Term::bytes).toArray(org.apache.lucene.util.BytesRef[]::new));
        }
        BooleanQuery.Builder query = new BooleanQuery.Builder();
        terms.forEach(term -> query.add(new TermQuery(term), occur));
        return query.build();
    }

    private static long percentile(long[] sorted, double share) {
        int at = Math.min((int) (sorted.length * share), sorted.length - 1);
        return sorted.length == 0 ? 0 : sorted[at];
    }
}
