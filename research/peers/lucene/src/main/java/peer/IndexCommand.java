package peer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/** {@code index DIR FILES...}: JSON lines into a new Lucene index. */
final class IndexCommand {
    /** Documents that one task indexes. */
    private static final int BATCH = 200;

    private static final JsonFactory PARSERS = new JsonFactory();
    private static final FieldType TEXT = text();

    private IndexCommand() {}

    static Json run(Options options) throws Exception {
        Path folder = Path.of(options.places().get(0));
        int threads = (int) options.number("--threads", 2);
        long memory = options.number("--memory", 512L << 20);
        long commitEvery = options.number("--commit-every", 0);
        long start = System.nanoTime();
        Usage begin = Usage.now();
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
        config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
        config.setRAMBufferSizeMB(memory / 1048576.0);
        long documents = 0;
        int segments;
        double secondsToCommit;
        try (Directory directory = new MMapDirectory(folder)) {
            try (IndexWriter writer = new IndexWriter(directory, config);
                    ExecutorService workers = Executors.newFixedThreadPool(threads)) {
                for (String file : options.places().subList(1, options.places().size())) {
                    documents = add(writer, workers, Path.of(file), documents, commitEvery);
                }
                writer.commit();
                secondsToCommit = (System.nanoTime() - start) / 1e9;
                if (options.has("--merge")) {
                    writer.forceMerge(1);
                    writer.commit();
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                segments = reader.leaves().size();
            }
        }
        Usage used = Usage.now().since(begin);
        return new Json()
                .put("engine", "lucene")
                .put("version", Version.LATEST.toString())
                .put("documents", documents)
                .put("seconds", (System.nanoTime() - start) / 1e9)
                .put("seconds_to_commit", secondsToCommit)
                .put("cpu_seconds", used.cpuSeconds())
                .put("bytes_written", used.bytesWritten())
                .put("index_bytes", bytes(folder))
                .put("segments", segments)
                .put("peak_memory_bytes", Usage.peakResidentBytes())
                .put("settings", new Json()
                        .put("memory", memory)
                        .put("threads", threads)
                        .put("commit_every", commitEvery)
                        .put("tokenizer", "StandardAnalyzer without stop words")
                        .put("merge", options.has("--merge"))
                        .put("positions", true)
                        .put("offsets", true)
                        .put("java", System.getProperty("java.version")));
    }

    /** Gives the file's documents to the workers; waits for them before each commit. */
    private static long add(
            IndexWriter writer, ExecutorService workers, Path file, long before, long commitEvery) throws Exception {
        long documents = before;
        List<String> batch = new ArrayList<>();
        List<Future<?>> underWay = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                batch.add(line);
                documents++;
                boolean commit = commitEvery > 0 && documents % commitEvery == 0;
                if (commit || batch.size() == BATCH) {
                    underWay.add(submit(writer, workers, batch));
                    batch = new ArrayList<>();
                }
                if (commit) {
                    await(underWay);
                    writer.commit();
                } else if (underWay.size() == 64) {
                    await(underWay);
                }
            }
        }
        underWay.add(submit(writer, workers, batch));
        await(underWay);
        return documents;
    }

    private static Future<?> submit(IndexWriter writer, ExecutorService workers, List<String> lines) {
        return workers.submit(() -> {
            for (String line : lines) {
                writer.addDocument(document(line));
            }
            return null;
        });
    }

    private static void await(List<Future<?>> tasks) throws ExecutionException, InterruptedException {
        for (Future<?> task : tasks) {
            task.get();
        }
        tasks.clear();
    }

    private static Document document(String line) throws IOException {
        Map<String, String> values = new HashMap<>();
        try (JsonParser parser = PARSERS.createParser(line)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                if (parser.nextToken().isScalarValue()) {
                    values.put(name, parser.getText());
                } else {
                    parser.skipChildren();
                }
            }
        }
        Document document = new Document();
        document.add(new StringField("id", values.getOrDefault("id", ""), Field.Store.YES));
        document.add(new Field("title", values.getOrDefault("title", ""), TEXT));
        document.add(new Field("body", values.getOrDefault("body", ""), TEXT));
        return document;
    }

    private static FieldType text() {
        FieldType type = new FieldType(TextField.TYPE_STORED);
        type.setIndexOptions(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS_AND_OFFSETS);
        type.freeze();
        return type;
    }

    private static long bytes(Path folder) throws IOException {
        long bytes = 0;
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }
}
