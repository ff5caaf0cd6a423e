// Tries opensearch-go: program URL DOCUMENTS.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
)

func main() {
	if err := smoke(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func smoke(url, path string) error {
	ctx := context.Background()
	client, err := opensearchapi.NewClient(opensearchapi.Config{Client: opensearch.Config{Addresses: []string{url}}})
	if err != nil {
		return err
	}
	info, err := client.Info(ctx, nil)
	if err != nil || !strings.Contains(info.Tagline, "Gannet") {
		return fmt.Errorf("info: %v", err)
	}
	mappings := `{"mappings":{"properties":{"title":{"type":"text"},"kind":{"type":"keyword"}}}}`
	made, err := client.Indices.Create(ctx, opensearchapi.IndicesCreateReq{Index: "wiki", Body: strings.NewReader(mappings)})
	if err != nil || !made.Acknowledged {
		return fmt.Errorf("create: %v", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var body strings.Builder
	count := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintf(&body, "{\"index\":{}}\n%s\n", lines.Text())
		count++
	}
	done, err := client.Bulk(ctx, opensearchapi.BulkReq{Index: "wiki", Body: strings.NewReader(body.String())})
	if err != nil || done.Errors || len(done.Items) != count {
		return fmt.Errorf("bulk: %v", err)
	}
	asked := `{"query":{"term":{"kind":"odd"}},"aggs":{"kinds":{"terms":{"field":"kind"}}},"size":1}`
	found, err := client.Search(ctx, &opensearchapi.SearchReq{Indices: []string{"wiki"}, Body: strings.NewReader(asked)})
	if err != nil || found.Hits.Total.Value != count/2 || !strings.Contains(string(found.Aggregations), "doc_count") {
		return fmt.Errorf("search: %v", err)
	}
	_, err = client.Search(ctx, &opensearchapi.SearchReq{Indices: []string{"none"}})
	var wrong *opensearch.StructError
	if !errors.As(err, &wrong) || wrong.Status != 404 || wrong.Err.Type != "index_not_found_exception" {
		return fmt.Errorf("the error of an index that is not there: %v", err)
	}
	_, err = client.Indices.Delete(ctx, opensearchapi.IndicesDeleteReq{Indices: []string{"wiki"}})
	return err
}
