// Tries olivere/elastic, with sniffing and health checks: program URL DOCUMENTS.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/olivere/elastic/v7"
)

func main() {
	if err := smoke(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func smoke(url, path string) error {
	ctx := context.Background()
	client, err := elastic.NewClient(elastic.SetURL(url), elastic.SetSniff(true), elastic.SetHealthcheck(true))
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	defer client.Stop()
	if _, _, err := client.Ping(url).Do(ctx); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	body := `{"mappings":{"properties":{"title":{"type":"text"},"kind":{"type":"keyword"}}}}`
	if made, err := client.CreateIndex("wiki").BodyString(body).Do(ctx); err != nil || !made.Acknowledged {
		return fmt.Errorf("create: %v", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	bulk := client.Bulk().Index("wiki").Refresh("wait_for")
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		bulk.Add(elastic.NewBulkIndexRequest().Id(fmt.Sprint(count)).Doc(json.RawMessage(lines.Text())))
		if count++; count%50 == 0 {
			if done, err := bulk.Do(ctx); err != nil || done.Errors {
				return fmt.Errorf("bulk: %v", err)
			}
		}
	}
	kinds := elastic.NewTermsAggregation().Field("kind").SubAggregation("mean", elastic.NewAvgAggregation().Field("price"))
	found, err := client.Search("wiki").Query(elastic.NewTermQuery("kind", "odd")).Aggregation("kinds", kinds).Sort("place", true).Do(ctx)
	if err != nil || found.TotalHits() != int64(count/2) {
		return fmt.Errorf("search: %v", err)
	}
	if terms, is := found.Aggregations.Terms("kinds"); !is || len(terms.Buckets) != 1 {
		return fmt.Errorf("aggregation: %v", found.Aggregations)
	}
	met := 0
	scroll := client.Scroll("wiki").Size(150)
	for {
		page, err := scroll.Do(ctx)
		if err != nil {
			break
		}
		met += len(page.Hits.Hits)
	}
	if met != count {
		return fmt.Errorf("scroll: %d of %d", met, count)
	}
	if err := scroll.Clear(ctx); err != nil {
		return fmt.Errorf("clear scroll: %w", err)
	}
	if _, err := client.Search("none").Do(ctx); !elastic.IsNotFound(err) {
		return fmt.Errorf("the error of an index that is not there: %v", err)
	}
	if _, err := client.Get().Index("wiki").Id("none").Do(ctx); !elastic.IsNotFound(err) {
		return fmt.Errorf("the error of a document that is not there: %v", err)
	}
	_, err = client.DeleteIndex("wiki").Do(ctx)
	return err
}
