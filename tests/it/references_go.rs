//! References in Go to members that are reached through the results of calls, elements and assertions of types.
//!
//! The expected positions are those of `go/types` of Go 1.27.3.

use crate::references_text::check;
use crate::support::harness::Repo;

#[test]
fn members_of_results_elements_and_assertions_are_those_of_their_types() {
    let repo = Repo::new(
        "\
//- /go.mod
module gt
//- /store.go
package gt

type Shelf struct {
	pots map[string]*Pot
	rows []*Row
}

type Row struct{ Pots []Pot }

type Pot struct{ size int }

type Crate struct{ size int }

func (p *Pot) Fill(n int) *Pot { p.size = n; return p }

func (c *Crate) Fill(n int) { c.size = n }

func Open(name string) (shelf *Shelf, err error) { return &Shelf{}, nil }

func (s *Shelf) Find(name string) (*Pot, bool) {
	pot, ok := s.pots[name]
	return pot, ok
}

type Filler interface{ Fill(n int) *Pot }
//- /fill.go
package gt

func fill(any interface{}) int {
	shelf, err := Open(\"a\")
	if err != nil {
		return 0
	}
	pot, _ := shelf.Find(\"b\")
	pot.Fill(1).Fill(2)
	for _, row := range shelf.rows {
		row.Pots[0].Fill(3)
	}
	if crate, ok := any.(*Crate); ok {
		crate.Fill(4)
	}
	shelf.pots[\"c\"].
		Fill(5)
	any.(*Crate).Fill(6)
	return pot.size + (&Crate{size: 7}).size
}
",
    );
    check(
        &repo,
        &[
            ("store.go", 4, 2, "fill.go:16:8 store.go:21:15 store.go:4:2"),
            ("store.go", 5, 2, "fill.go:10:28 store.go:5:2"),
            ("store.go", 8, 18, "fill.go:11:7 store.go:8:18"),
            ("store.go", 10, 18, "fill.go:19:13 store.go:10:18 store.go:14:36"),
            ("store.go", 12, 20, "fill.go:19:28 fill.go:19:38 store.go:12:20 store.go:16:33"),
            ("store.go", 14, 15, "fill.go:11:15 fill.go:17:3 fill.go:9:14 fill.go:9:6 store.go:14:15"),
            ("store.go", 16, 17, "fill.go:14:9 fill.go:18:15 store.go:16:17"),
            ("store.go", 20, 17, "fill.go:8:18 store.go:20:17"),
            ("store.go", 25, 24, "store.go:25:24"),
        ],
    );
}
