package peer;

/**
 * A peer for comparisons: Lucene behind the two commands and the JSON names of {@code gannet index} and {@code gannet
 * bench}, so that one script can drive all engines and read their answers.
 */
public final class LucenePeer {
    private LucenePeer() {}

    public static void main(String[] arguments) {
        try {
            Options options = Options.of(arguments);
            Json figures = switch (options.command()) {
                case "index" -> IndexCommand.run(options);
                case "bench" -> BenchCommand.run(options);
                default -> throw new IllegalArgumentException(
                        "unknown command " + options.command() + ", expected index or bench");
            };
            System.out.println(figures);
        } catch (Exception | OutOfMemoryError error) {
            System.err.println("lucene-peer: " + error);
            System.exit(1);
        }
    }
}
