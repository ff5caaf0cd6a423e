package peer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The arguments of both commands: flags with one value each, switches, and places (the index folder first, then files). */
record Options(String command, List<String> places, Map<String, String> values) {
    private static final Set<String> SWITCHES =
            Set.of("--json", "--count", "--fetch", "--distinct", "--merge", "--random-advice");

    static Options of(String[] arguments) {
        List<String> places = new ArrayList<>();
        Map<String, String> values = new HashMap<>();
        for (int at = 1; at < arguments.length; at++) {
            String argument = arguments[at];
            if (SWITCHES.contains(argument)) {
                values.put(argument, "");
            } else if (argument.startsWith("-") && argument.length() > 1) {
                if (++at == arguments.length) {
                    throw new IllegalArgumentException(argument + " needs a value");
                }
                values.put(argument, arguments[at]);
            } else {
                places.add(argument);
            }
        }
        if (arguments.length == 0 || places.size() < 2) {
            throw new IllegalArgumentException("expected index or bench, an index folder and at least one file");
        }
        return new Options(arguments[0], places, values);
    }

    long number(String flag, long otherwise) {
        return values.containsKey(flag) ? Long.parseLong(values.get(flag)) : otherwise;
    }

    /** Null where the flag was not given. */
    Double seconds(String flag) {
        return values.containsKey(flag) ? Double.valueOf(values.get(flag)) : null;
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    String text(String flag) {
        return values.get(flag);
    }
}
