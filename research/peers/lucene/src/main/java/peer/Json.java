package peer;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** A JSON object that is written only: names in the order in which they were put. */
final class Json {
    private final Map<String, Object> members = new LinkedHashMap<>();

    Json put(String name, Object value) {
        members.put(name, value);
        return this;
    }

    @Override
    public String toString() {
        return members.entrySet().stream()
                .map(member -> quoted(member.getKey()) + ": " + written(member.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    private static String written(Object value) {
        return value instanceof CharSequence text ? quoted(text.toString()) : value instanceof java.util.List<?> list ? list.toString() : String.valueOf(value);
    }
}
