"""What scripts/claims does once it runs in the environment: it checks pages, writes them or lists their claims."""
import claim_files
import page_tables
from claim_files import Wrong, spoken
from folders import RESEARCH, ROOT


# Pages of definitions: their numbers are sizes and limits, none is measured.
DEFINITIONS = {"docs/format.md", "docs/glossary.md"}


def run(options):
    """The exit status, or a message with status 1."""
    try:
        if options.list is not None:
            return listed(options.list)
        problems = [f"{where.resolve().relative_to(ROOT)}: {problem}" for path in claim_paths() for where, problem in problems_of(path, options.check)]
        problems += left_out() if options.check else []
    except Wrong as error:
        return f"claims: {error}"
    print("\n".join(problems) or "claims: all is as the results say" if options.check or problems else "claims: the tables are written; --check compares the rest")
    return 1 if problems else 0


def claim_paths():
    return [*sorted((ROOT / "docs").rglob("claims.toml")), *sorted(RESEARCH.rglob("claims.toml"))]


def pages_of(of):
    """The pages of a claims.toml: those beside it, and others that its entries name, such as ../README.md."""
    beside = {page.name for page in of.path.parent.glob("*.md")}
    return [of.path.parent / name for name in sorted(beside | set(of.pages())) if (of.path.parent / name).exists()]


def left_out():
    """A line for each page with results that no claims.toml names, so that none is unchecked."""
    named = {(path.parent / page).resolve() for path in claim_paths() for page in claim_files.read(path).pages()}
    pages = [ROOT / "ARCHITECTURE.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *RESEARCH.rglob("page.md")]
    return [f"{page.relative_to(ROOT)}: no claims.toml names the page; its own list of settings will do" for page in sorted(pages)
            if page not in named and str(page.relative_to(ROOT)) not in DEFINITIONS]


def problems_of(path, is_check):
    """Compares the pages of a claims.toml with their results, or writes their tables unless it is
    only to check. Gives each problem, behind the file where it is.
    """
    of, used = claim_files.read(path), set()
    for page in pages_of(of):
        text, name = page.read_text(), str(page.relative_to(path.parent))
        used |= {marker["name"] for marker in map(page_tables.MARKER.match, text.splitlines()) if marker}
        try:
            made = page_tables.renewed(text, of, page.parent)
        except Wrong as error:
            yield page, error
            continue
        if made != text and not is_check:
            page.write_text(made)
        if made != text and is_check:
            yield page, "a table differs from its result: run scripts/claims"
        if is_check and name in of.pages():
            yield from ((page, problem) for problem in of.problems(name, text))
    yield from ((path, f"no such page: {page}") for page in of.pages() if not (path.parent / page).exists())
    yield from ((path, f"no page has the table {name!r}") for name in sorted(page_tables.names(of) - used))


def listed(page):
    for path in claim_paths():
        of = claim_files.read(path)
        for entry in (*of.claims, *of.verdicts):
            where = (path.parent / entry.page).resolve().relative_to(ROOT)
            if page in ("", str(where)):
                print(f"{where}: {line_of(entry)}")


def line_of(entry):
    if isinstance(entry, claim_files.Verdict):
        said, (found, known) = f"the paper says: {entry.says} ({entry.paper})", page_tables.here(entry)
        return f"{said}\n    {entry.file}: {found}, {known.strip('*')}"
    if entry.test:
        return f"{entry.words}\n    {entry.file}: test {entry.test}"
    expected = ", ".join(entry.shown) or f"{claim_files.low(entry.least):g} to {claim_files.high(entry.most):g}"
    return f"{entry.words}\n    {entry.file}: {spoken(entry.figures())}, expected {expected}"
