package peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Counters of the process since its start, as the system keeps them: the compiler's and the collector's threads included. */
record Usage(double cpuSeconds, long bytesRead, long bytesWritten, long majorFaults) {
    /** Ticks a second in /proc/self/stat; Linux fixes it for programs. */
    private static final double TICKS_PER_SECOND = 100;

    static Usage now() throws IOException {
        String io = Files.readString(Path.of("/proc/self/io"));
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split("\\s+");
        return new Usage(
                (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND,
                value(io, "read_bytes:"),
                value(io, "write_bytes:") - value(io, "cancelled_write_bytes:"),
                Long.parseLong(fields[9]));
    }

    Usage since(Usage start) {
        return new Usage(
                cpuSeconds - start.cpuSeconds,
                bytesRead - start.bytesRead,
                bytesWritten - start.bytesWritten,
                majorFaults - start.majorFaults);
    }

    /** The most resident memory this process ever had, mapped files included. */
    static long peakResidentBytes() throws IOException {
        return value(Files.readString(Path.of("/proc/self/status")), "VmHWM:") * 1024;
    }

    private static long value(String text, String name) {
        return text.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).trim().split("\\s+")[0])
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElse(0);
    }
}
