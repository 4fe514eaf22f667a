// Command exchange is the least that a round with a model server costs: it
// posts the same bytes again and again and reads each answer to its end.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	url := os.Args[1]
	size, _ := strconv.Atoi(os.Args[2])
	rounds, _ := strconv.Atoi(os.Args[3])
	body := bytes.Repeat([]byte("x"), size)
	for range rounds {
		resp, err := http.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		resp.Body.Close()
	}
}
