package conformance_test

import (
	"fmt"
	"os"

	"github.com/scoundrel-game/scoundrel/pkg/engine/conformance"
)

func ExampleRun() {
	file, err := os.Open("testdata/perft.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	results, err := conformance.Run(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results[:4] {
		fmt.Println(r.Line, r.Name, r.Err)
	}
	// Output:
	// 1 perft classic 691b6b67 <nil>
	// 2 perft strict f85387c2 <nil>
	// 3 perft tabletop 5a99e389 <nil>
	// 4 perft digital 43bafb9c <nil>
}
