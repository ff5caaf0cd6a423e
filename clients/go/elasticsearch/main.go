// Asks a server what a program asks of Elasticsearch, through go-elasticsearch's typed API:
// program URL DOCUMENTS. It prints what fails.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v9"
	"github.com/elastic/go-elasticsearch/v9/esutil"
	"github.com/elastic/go-elasticsearch/v9/typedapi/core/search"
	"github.com/elastic/go-elasticsearch/v9/typedapi/indices/create"
	"github.com/elastic/go-elasticsearch/v9/typedapi/types"
	"github.com/elastic/go-elasticsearch/v9/typedapi/types/enums/calendarinterval"
	"github.com/elastic/go-elasticsearch/v9/typedapi/types/enums/refresh"
	"github.com/elastic/go-elasticsearch/v9/typedapi/types/enums/sortorder"
)

type document struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Kind  string  `json:"kind"`
	Place int     `json:"place"`
	Price float64 `json:"price"`
	raw   string
}

var (
	ctx       = context.Background()
	client    *elasticsearch.TypedClient
	plain     *elasticsearch.Client
	documents []document
	failed    bool
)

func fail(step string, problem any) {
	failed = true
	fmt.Printf("%s: %v\n", step, problem)
}

// has reports an error, or a finding that is not the expected one.
func has(step string, err error, found, expected any) bool {
	if err != nil {
		fail(step, err)
	} else if !reflect.DeepEqual(found, expected) {
		fail(step, fmt.Sprintf("found %v instead of %v", found, expected))
	} else {
		return true
	}
	return false
}

// fails reports unless an error has this type and status.
func fails(step string, err error, status int, kind string) {
	var found *types.ElasticsearchError
	if !errors.As(err, &found) {
		fail(step, fmt.Sprintf("no error of Elasticsearch: %v", err))
	} else if found.Status != status || found.ErrorCause.Type != kind {
		fail(step, found)
	}
}

func ptr[T any](value T) *T { return &value }

func main() {
	read(os.Args[2])
	config := elasticsearch.Config{Addresses: []string{os.Args[1]}}
	var err error
	if client, err = elasticsearch.NewTypedClient(config); err != nil {
		fail("client", err)
	}
	if plain, err = elasticsearch.NewClient(config); err != nil {
		fail("client", err)
	}
	for _, step := range []func(){about, mapping, bulk, crud, queries, hits, pages, aggregations, names, changes, wrong} {
		step()
	}
	if failed {
		os.Exit(1)
	}
}

func read(path string) {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one document
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		one.raw = lines.Text()
		documents = append(documents, one)
	}
}

func about() {
	info, err := client.Info().Do(ctx)
	if err == nil && has("info", err, info.Version.BuildFlavor, "default") {
		has("info", err, strings.Contains(info.Tagline, "Gannet"), true)
	} else if err != nil {
		fail("info", err)
	}
	is, err := client.Ping().Do(ctx)
	has("ping", err, is, true)
	health, err := client.Cluster.Health().Do(ctx)
	if err != nil || health.Status.String() != "green" {
		fail("health", err)
	}
	nodes, err := client.Nodes.Info().Do(ctx)
	if err != nil || len(nodes.Nodes) != 1 {
		fail("nodes", err)
	}
	stats, err := client.Nodes.Stats().Do(ctx)
	if err != nil || len(stats.Nodes) != 1 {
		fail("statistics of nodes", err)
	}
	if _, err := client.Cluster.Stats().Do(ctx); err != nil {
		fail("statistics of the cluster", err)
	}
}

func mapping() {
	text, english := types.NewTextProperty(), types.NewTextProperty()
	raw := types.NewKeywordProperty()
	raw.IgnoreAbove = ptr(256)
	text.Fields = map[string]types.Property{"raw": raw}
	english.Analyzer = ptr("english")
	made, err := client.Indices.Create("wiki").Request(&create.Request{
		Settings: &types.IndexSettings{NumberOfShards: ptr("1"), NumberOfReplicas: ptr("0")},
		Mappings: &types.TypeMapping{Properties: map[string]types.Property{
			"title": text, "body": english, "kind": types.NewKeywordProperty(),
			"place": types.NewLongNumberProperty(), "price": types.NewDoubleNumberProperty(),
			"day": types.NewDateProperty(), "flag": types.NewBooleanProperty(),
		}},
	}).Do(ctx)
	if err != nil || !made.Acknowledged {
		fail("create", err)
	}
	is, err := client.Indices.Exists("wiki").Do(ctx)
	has("exists", err, is, true)
	is, err = client.Indices.Exists("none").Do(ctx)
	has("exists", err, is, false)
	told, err := client.Indices.GetMapping().Index("wiki").Do(ctx)
	if err != nil {
		fail("mapping", err)
	} else if title, is := told["wiki"].Mappings.Properties["title"].(*types.TextProperty); !is || title.Fields["raw"] == nil {
		fail("mapping", fmt.Sprintf("%v", told["wiki"].Mappings.Properties["title"]))
	}
	settings, err := client.Indices.GetSettings().Index("wiki").Do(ctx)
	if err != nil || settings["wiki"].Settings.Index.NumberOfShards == nil {
		fail("settings", err)
	}
	all, err := client.Indices.Get("*").Do(ctx)
	if err != nil || len(all) != 1 {
		fail("indexes", err)
	}
	tokens, err := client.Indices.Analyze().Index("wiki").Field("body").Text("The whales").Do(ctx)
	if err != nil || len(tokens.Tokens) != 1 || tokens.Tokens[0].Token != "whale" {
		fail("analyze", err)
	}
}

func bulk() {
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{Client: plain, Index: "wiki", NumWorkers: 2, FlushBytes: 50000, Refresh: "true"})
	if err != nil {
		fail("bulk", err)
		return
	}
	for _, one := range documents {
		item := esutil.BulkIndexerItem{Action: "index", DocumentID: one.ID, Body: strings.NewReader(one.raw)}
		if err := indexer.Add(ctx, item); err != nil {
			fail("bulk", err)
		}
	}
	if err := indexer.Close(ctx); err != nil {
		fail("bulk", err)
	}
	has("bulk", nil, indexer.Stats().NumFailed, uint64(0))
	typed := client.Bulk().Index("wiki")
	if err := typed.IndexOp(*types.NewIndexOperation(), map[string]any{"place": "far"}); err != nil {
		fail("bulk", err)
	}
	done, err := typed.Do(ctx)
	if err != nil || !done.Errors {
		fail("bulk with an error", err)
	}
	count, err := client.Count().Index("wiki").Do(ctx)
	if err != nil || count.Count != int64(len(documents)) {
		fail("count", err)
	}
}

func crud() {
	got, err := client.Get("wiki", documents[0].ID).Do(ctx)
	if err == nil && has("get", err, got.Found, true) {
		has("get", err, string(got.Source_), documents[0].raw)
	}
	written, err := client.Index("notes").Id("1").Refresh(refresh.True).Document(map[string]any{"text": "one"}).Do(ctx)
	if err != nil || written.Result.String() != "created" || written.Version_ != 1 {
		fail("index", err)
		return
	}
	changed, err := client.Update("notes", "1").Doc(map[string]any{"more": 2}).Do(ctx)
	if err != nil || changed.Result.String() != "updated" || changed.Version_ != 2 {
		fail("update", err)
	}
	_, err = client.Index("notes").Id("1").IfSeqNo(fmt.Sprint(*written.SeqNo_)).IfPrimaryTerm("1").Document(map[string]any{}).Do(ctx)
	fails("conflict", err, 409, "version_conflict_engine_exception")
	_, err = client.Create("notes", "1").Document(map[string]any{}).Do(ctx)
	fails("create", err, 409, "version_conflict_engine_exception")
	_, err = client.Update("notes", "2").Doc(map[string]any{}).Do(ctx)
	fails("update", err, 404, "document_missing_exception")
	made, err := client.Update("notes", "3").Doc(map[string]any{"a": 1}).DocAsUpsert(true).Do(ctx)
	if err != nil || made.Result.String() != "created" {
		fail("upsert", err)
	}
	many, err := client.Mget().Index("notes").Ids("1", "2").Do(ctx)
	if err != nil || len(many.Docs) != 2 {
		fail("mget", err)
	}
	source, err := client.GetSource("notes", "1").Do(ctx)
	has("source", err, string(source), `{"text":"one","more":2}`)
	gone, err := client.Delete("notes", "1").Do(ctx)
	if err != nil || gone.Result.String() != "deleted" {
		fail("delete", err)
	}
	is, err := client.Exists("notes", "1").Do(ctx)
	has("exists", err, is, false)
	missing, err := client.Get("notes", "1").Do(ctx)
	if err != nil || missing.Found {
		fail("get of what is not there", err)
	}
	if _, err := client.Indices.Delete("notes").Do(ctx); err != nil {
		fail("delete", err)
	}
}

func found(step string, query types.Query) map[string]bool {
	answer, err := client.Search().Index("wiki").Request(&search.Request{Query: &query, Size: ptr(len(documents))}).Do(ctx)
	ids := map[string]bool{}
	if err != nil {
		fail(step, err)
		return ids
	}
	for _, hit := range answer.Hits.Hits {
		ids[*hit.Id_] = true
	}
	has(step, nil, answer.Hits.Total.Value, int64(len(ids)))
	return ids
}

func queries() {
	kind := documents[7].Kind
	title, id := documents[7].Title, documents[7].ID
	word := longest(title)
	low := strings.ToLower(word)
	term := map[string]types.TermQuery{"kind": {Value: kind}}
	match := map[string]types.MatchQuery{"title": {Query: word}}
	half, all := len(documents)/2, len(documents)
	for step, one := range map[string]struct {
		query types.Query
		count int
	}{
		"match_all":      {types.Query{MatchAll: types.NewMatchAllQuery()}, all},
		"match_none":     {types.Query{MatchNone: types.NewMatchNoneQuery()}, 0},
		"term":           {types.Query{Term: term}, half},
		"terms":          {types.Query{Terms: &types.TermsQuery{TermsQuery: map[string]types.TermsQueryField{"place": []types.FieldValue{3, 5}}}}, 2},
		"range":          {types.Query{Range: map[string]types.RangeQuery{"price": types.NumberRangeQuery{Gte: ptr(types.Float64(5)), Lt: ptr(types.Float64(15))}}}, 40},
		"range of dates": {types.Query{Range: map[string]types.RangeQuery{"day": types.DateRangeQuery{Lt: ptr("2024-02-01")}}}, -1},
		"exists":         {types.Query{Exists: &types.ExistsQuery{Field: "title"}}, all},
		"ids":            {types.Query{Ids: &types.IdsQuery{Values: []string{id}}}, 1},
		"constant_score": {types.Query{ConstantScore: &types.ConstantScoreQuery{Filter: types.Query{Term: term}}}, half},
		"must_not":       {types.Query{Bool: &types.BoolQuery{MustNot: []types.Query{{Term: term}}}}, half},
	} {
		ids := found(step, one.query)
		if one.count >= 0 {
			has(step, nil, len(ids), one.count)
		}
	}
	for step, query := range map[string]types.Query{
		"match":               {Match: match},
		"match_phrase":        {MatchPhrase: map[string]types.MatchPhraseQuery{"title": {Query: title}}},
		"match_phrase_prefix": {MatchPhrasePrefix: map[string]types.MatchPhrasePrefixQuery{"title": {Query: title[:len(title)-1]}}},
		"multi_match":         {MultiMatch: &types.MultiMatchQuery{Query: word, Fields: []string{"title^2", "body"}}},
		"prefix":              {Prefix: map[string]types.PrefixQuery{"title": {Value: low[:3]}}},
		"wildcard":            {Wildcard: map[string]types.WildcardQuery{"title": {Value: ptr(low[:3] + "*")}}},
		"fuzzy":               {Fuzzy: map[string]types.FuzzyQuery{"title": {Value: low[:len(low)-1] + "z"}}},
		"query_string":        {QueryString: &types.QueryStringQuery{Query: "title:" + word}},
		"bool":                {Bool: &types.BoolQuery{Must: []types.Query{{Match: match}}, Filter: []types.Query{{Term: term}}}},
		"dis_max":             {DisMax: &types.DisMaxQuery{Queries: []types.Query{{Match: match}, {Term: term}}}},
		"raw":                 {Term: map[string]types.TermQuery{"title.raw": {Value: title}}},
	} {
		has(step, nil, found(step, query)[id], true)
	}
}

func longest(text string) string {
	longest := ""
	for _, word := range strings.Fields(text) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

func hits() {
	title := longest(documents[7].Title)
	answer, err := client.Search().Index("wiki").Request(&search.Request{
		Query:          &types.Query{Match: map[string]types.MatchQuery{"title": {Query: title}}},
		Highlight:      &types.Highlight{Fields: []map[string]types.HighlightField{{"title": {}}}},
		Source_:        types.SourceFilter{Includes: []string{"title"}},
		DocvalueFields: []types.FieldAndFormat{{Field: "day", Format: ptr("yyyy")}},
		Fields:         []types.FieldAndFormat{{Field: "kind"}},
		Version:        ptr(true),
		Size:           ptr(1),
	}).Do(ctx)
	if err != nil || len(answer.Hits.Hits) != 1 {
		fail("hits", err)
		return
	}
	hit := answer.Hits.Hits[0]
	has("highlight", nil, strings.Contains(hit.Highlight["title"][0], "<em>"), true)
	has("docvalue_fields", nil, string(hit.Fields["day"]), `["2024"]`)
	has("version", nil, hit.Version_, ptr(int64(1)))
	var after []types.FieldValue
	var met []string
	for {
		page, err := client.Search().Index("wiki").Request(&search.Request{
			Sort:        []types.SortCombinations{types.SortOptions{SortOptions: map[string]types.FieldSort{"place": {Order: &sortorder.Desc}}}},
			SearchAfter: after, Size: ptr(150),
		}).Do(ctx)
		if err != nil {
			fail("search_after", err)
			break
		}
		if len(page.Hits.Hits) == 0 {
			break
		}
		for _, hit := range page.Hits.Hits {
			met = append(met, *hit.Id_)
		}
		after = page.Hits.Hits[len(page.Hits.Hits)-1].Sort
	}
	has("search_after", nil, len(met), len(documents))
	page, err := client.Search().Index("wiki").Collapse(&types.FieldCollapse{Field: "kind"}).Do(ctx)
	if err != nil || len(page.Hits.Hits) != 2 {
		fail("collapse", err)
	}
}

func pages() {
	page, err := client.Search().Index("wiki").Scroll("1m").Size(150).Do(ctx)
	if err != nil {
		fail("scroll", err)
		return
	}
	met, id := len(page.Hits.Hits), *page.ScrollId_
	for {
		next, err := client.Scroll().ScrollId(id).Do(ctx)
		if err != nil {
			fail("scroll", err)
			break
		}
		if len(next.Hits.Hits) == 0 {
			break
		}
		met += len(next.Hits.Hits)
	}
	has("scroll", nil, met, len(documents))
	if _, err := client.ClearScroll().ScrollId(id).Do(ctx); err != nil {
		fail("clear scroll", err)
	}
	pit, err := client.OpenPointInTime("wiki").KeepAlive("1m").Do(ctx)
	if err != nil {
		fail("open a point in time", err)
		return
	}
	at, err := client.Search().Request(&search.Request{Pit: &types.PointInTimeReference{Id: pit.Id, KeepAlive: "1m"}, Size: ptr(1), Sort: []types.SortCombinations{"place"}}).Do(ctx)
	if err != nil || len(at.Hits.Hits) != 1 || at.PitId == nil {
		fail("point in time", err)
	}
	if closed, err := client.ClosePointInTime().Id(pit.Id).Do(ctx); err != nil || !closed.Succeeded {
		fail("close a point in time", err)
	}
	many, err := client.Msearch().Raw(strings.NewReader("{\"index\":\"wiki\"}\n{\"size\":1,\"aggs\":{\"k\":{\"terms\":{\"field\":\"kind\"}}}}\n{\"index\":\"none\"}\n{}\n")).Do(ctx)
	if err != nil || len(many.Responses) != 2 {
		fail("msearch", err)
	}
}

func aggregations() {
	price := ptr("price")
	term := types.Query{Term: map[string]types.TermQuery{"kind": {Value: "odd"}}}
	answer, err := client.Search().Index("wiki").Size(0).Aggregations(map[string]types.Aggregations{
		"kinds":  {Terms: &types.TermsAggregation{Field: ptr("kind")}, Aggregations: map[string]types.Aggregations{"mean": {Avg: &types.AverageAggregation{Field: price}}}},
		"places": {Terms: &types.TermsAggregation{Field: ptr("place"), Size: ptr(3)}},
		"prices": {Terms: &types.TermsAggregation{Field: price, Size: ptr(3)}},
		"flags":  {Terms: &types.TermsAggregation{Field: ptr("flag")}},
		"months": {DateHistogram: &types.DateHistogramAggregation{Field: ptr("day"), CalendarInterval: &calendarinterval.Month}},
		"steps":  {Histogram: &types.HistogramAggregation{Field: price, Interval: ptr(types.Float64(25))}},
		"ranges": {Range: &types.RangeAggregation{Field: price, Ranges: []types.AggregationRange{{To: ptr(types.Float64(10))}}}},
		"odd":    {Filter: &term},
		"both":   {Filters: &types.FiltersAggregation{Filters: map[string]types.Query{"a": term}}},
		"less":   {Missing: &types.MissingAggregation{Field: ptr("kind")}},
		"all":    {Global: types.NewGlobalAggregation()},
		"stats":  {Stats: &types.StatsAggregation{Field: price}},
		"more":   {ExtendedStats: &types.ExtendedStatsAggregation{Field: price}},
		"many":   {Cardinality: &types.CardinalityAggregation{Field: ptr("place")}},
		"half":   {Percentiles: &types.PercentilesAggregation{Field: price, Percents: []types.Float64{50}}},
		"count":  {ValueCount: &types.ValueCountAggregation{Field: price}},
		"sum":    {Sum: &types.SumAggregation{Field: price}},
		"min":    {Min: &types.MinAggregation{Field: price}},
		"max":    {Max: &types.MaxAggregation{Field: price}},
		"pairs":  {Composite: &types.CompositeAggregation{Sources: []map[string]types.CompositeAggregationSource{{"k": {Terms: &types.CompositeTermsAggregation{Field: ptr("kind")}}}}}},
		"none":   {Terms: &types.TermsAggregation{Field: ptr("nowhere")}},
	}).Do(ctx)
	if err != nil {
		fail("aggregations", err)
		return
	}
	of := answer.Aggregations
	if kinds, is := of["kinds"].(*types.StringTermsAggregate); !is {
		fail("terms", fmt.Sprintf("%T", of["kinds"]))
	} else if buckets := kinds.Buckets.([]types.StringTermsBucket); has("terms", nil, len(buckets), 2) {
		mean, is := buckets[0].Aggregations["mean"].(*types.AvgAggregate)
		has("avg", nil, is && mean.Value != nil, true)
	}
	for name, expected := range map[string]types.Aggregate{
		"places": &types.LongTermsAggregate{}, "prices": &types.DoubleTermsAggregate{}, "flags": &types.LongTermsAggregate{},
		"months": &types.DateHistogramAggregate{}, "steps": &types.HistogramAggregate{}, "ranges": &types.RangeAggregate{},
		"odd": &types.FilterAggregate{}, "both": &types.FiltersAggregate{}, "less": &types.MissingAggregate{}, "all": &types.GlobalAggregate{},
		"stats": &types.StatsAggregate{}, "more": &types.ExtendedStatsAggregate{}, "many": &types.CardinalityAggregate{},
		"half": &types.TDigestPercentilesAggregate{}, "count": &types.ValueCountAggregate{}, "sum": &types.SumAggregate{},
		"min": &types.MinAggregate{}, "max": &types.MaxAggregate{}, "pairs": &types.CompositeAggregate{}, "none": &types.UnmappedTermsAggregate{},
	} {
		if found := fmt.Sprintf("%T", of[name]); found != fmt.Sprintf("%T", expected) {
			fail(name, fmt.Sprintf("found %s instead of %T", found, expected))
		}
	}
	if all, is := of["all"].(*types.GlobalAggregate); is {
		has("global", nil, all.DocCount, int64(len(documents)))
	}
}

func names() {
	add := types.IndicesAction{Add: &types.AddAction{Index: ptr("wiki"), Alias: ptr("now")}}
	if _, err := client.Indices.UpdateAliases().Actions(&add).Do(ctx); err != nil {
		fail("aliases", err)
	}
	aliases, err := client.Indices.GetAlias().Name("now").Do(ctx)
	if err != nil || len(aliases) != 1 {
		fail("alias", err)
	}
	body := `{"index_patterns":["logs-*"],"priority":10,"template":{"mappings":{"properties":{"kind":{"type":"keyword"}}}}}`
	if _, err := client.Indices.PutIndexTemplate("logs").Raw(strings.NewReader(body)).Do(ctx); err != nil {
		fail("template", err)
	}
	templates, err := client.Indices.GetIndexTemplate().Name("logs").Do(ctx)
	if err != nil || len(templates.IndexTemplates) != 1 {
		fail("template", err)
	}
	if _, err := client.Indices.DeleteIndexTemplate("logs").Do(ctx); err != nil {
		fail("template", err)
	}
	caps, err := client.FieldCaps().Index("wiki").Fields("*").Do(ctx)
	if err != nil || !caps.Fields["place"]["long"].Aggregatable {
		fail("field_caps", err)
	}
	query := types.Query{Match: map[string]types.MatchQuery{"kind": {Query: "odd"}}}
	why, err := client.Explain("wiki", documents[1].ID).Query(&query).Do(ctx)
	if err != nil || !why.Matched {
		fail("explain", err)
	}
	valid, err := client.Indices.ValidateQuery().Index("wiki").Query(&query).Do(ctx)
	if err != nil || !valid.Valid {
		fail("validate", err)
	}
	rows, err := client.Cat.Indices().Do(ctx)
	if err != nil || len(rows) == 0 || *rows[0].Index != "wiki" {
		fail("cat", err)
	}
	stats, err := client.Indices.Stats().Index("wiki").Do(ctx)
	if err != nil || stats.Indices["wiki"].Primaries.Docs.Count != int64(len(documents)) {
		fail("stats", err)
	}
}

func changes() {
	body := `{"source":{"index":"wiki"},"dest":{"index":"copy"}}`
	moved, err := client.Reindex().Raw(strings.NewReader(body)).Do(ctx)
	if err != nil || *moved.Created != int64(len(documents)) {
		fail("reindex", err)
		return
	}
	query := types.Query{Term: map[string]types.TermQuery{"kind": {Value: "odd"}}}
	gone, err := client.DeleteByQuery("copy").Query(&query).Do(ctx)
	if err != nil || *gone.Deleted != int64(len(documents)/2) {
		fail("delete_by_query", err)
	}
	again, err := client.UpdateByQuery("copy").Do(ctx)
	if err != nil || *again.Updated != int64(len(documents)/2) {
		fail("update_by_query", err)
	}
	begun, err := client.Reindex().WaitForCompletion(false).Raw(strings.NewReader(body)).Do(ctx)
	if err != nil {
		fail("task", err)
		return
	}
	for range 100 {
		task, err := client.Tasks.Get(*begun.Task).Do(ctx)
		if err != nil {
			fail("task", err)
			break
		}
		if task.Completed {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, err := range []error{
		second(client.Indices.Refresh().Index("copy").Do(ctx)), second(client.Indices.Flush().Index("copy").Do(ctx)),
		second(client.Indices.Forcemerge().Index("copy").Do(ctx)), second(client.Indices.Delete("copy").Do(ctx)),
	} {
		if err != nil {
			fail("maintenance", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func wrong() {
	_, err := client.Search().Index("none").Do(ctx)
	fails("no index", err, 404, "index_not_found_exception")
	_, err = client.Indices.Create("wiki").Do(ctx)
	fails("an index that exists", err, 400, "resource_already_exists_exception")
	_, err = client.Search().Index("wiki").Raw(bytes.NewBufferString(`{"query":{"mtach":{"title":"x"}}}`)).Do(ctx)
	fails("an unknown query", err, 400, "parsing_exception")
	_, err = client.Index("wiki").Document(map[string]any{"place": "far"}).Do(ctx)
	fails("a wrong value", err, 400, "document_parsing_exception")
	_, err = client.Ilm.GetLifecycle().Do(ctx)
	fails("ILM", err, 400, "illegal_argument_exception")
	if _, err := client.Indices.Delete("wiki").Do(ctx); err != nil {
		fail("delete", err)
	}
}
