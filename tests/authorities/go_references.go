// The references to definitions of Go, by `go/types`.
// usage: go run go_references.go FOLDER COUNT SEED
// Prints the files and the names of members whose receivers have stated types, {files: […], declared: [[file, line, column], …]}, then one
// JSON object a line: {name, kind, file, line, column, references: [[file, line, column], …]}, columns in code points from 1.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	fset   = token.NewFileSet()
	root   string
	module string
	known  = map[string]*types.Package{}
	info   = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	other  = importer.ForCompiler(fset, "source", nil)
	texts  = map[string][]string{}
	parsed []*ast.File
)

type local struct{}

func (local) Import(path string) (*types.Package, error) {
	if path == module || strings.HasPrefix(path, module+"/") {
		return check(path), nil
	}
	return other.Import(path)
}

func check(path string) *types.Package {
	if found, ok := known[path]; ok {
		return found
	}
	folder := filepath.Join(root, strings.TrimPrefix(path, module))
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	var files []*ast.File
	for _, name := range names {
		// A build takes one of the files that define a name for several systems.
		isBuilt, _ := build.Default.MatchFile(folder, filepath.Base(name))
		if strings.HasSuffix(name, "_test.go") || !isBuilt {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err == nil && (len(files) == 0 || files[0].Name.Name == file.Name.Name) {
			files = append(files, file)
			// Generated files are not indexed.
			if !ast.IsGenerated(file) {
				parsed = append(parsed, file)
			}
		}
	}
	known[path] = types.NewPackage(path, "x")
	conf := types.Config{Importer: local{}, Error: func(error) {}}
	found, _ := conf.Check(path, fset, files, info)
	known[path] = found
	return found
}

func place(pos token.Pos) []any {
	at := fset.Position(pos)
	if texts[at.Filename] == nil {
		text, _ := os.ReadFile(at.Filename)
		texts[at.Filename] = strings.SplitAfter(string(text), "\n")
	}
	line := texts[at.Filename][at.Line-1]
	name, _ := filepath.Rel(root, at.Filename)
	return []any{name, at.Line, utf8.RuneCountInString(line[:at.Column-1]) + 1}
}

// The fields of types without a name are no symbols.
var named = map[types.Object]bool{}

func kindOf(object types.Object) string {
	switch object := object.(type) {
	case *types.Func:
		if object.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.TypeName:
		return "type"
	case *types.Var:
		if object.IsField() && !named[object] {
			return "any field"
		}
		if object.IsField() {
			return "field"
		}
		return "value"
	}
	return "value"
}

// Whether the code states the type of a value: that of a parameter, of a variable with its type, or of a field of one.
func isStated(value ast.Expr, stated map[types.Object]bool) bool {
	switch value := value.(type) {
	case *ast.Ident:
		object := info.Uses[value]
		_, isVariable := object.(*types.Var)
		return !isVariable || stated[object]
	case *ast.SelectorExpr:
		object, isField := info.Uses[value.Sel].(*types.Var)
		return isStated(value.X, stated) && (!isField || object.IsField() || stated[object])
	}
	return false
}

// The names that are selected from values of stated types.
func declared() [][]any {
	stated := map[types.Object]bool{}
	state := func(names []*ast.Ident) {
		for _, name := range names {
			stated[info.Defs[name]] = true
		}
	}
	found := [][]any{}
	for _, file := range parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Field:
				state(node.Names)
			case *ast.ValueSpec:
				if node.Type != nil {
					state(node.Names)
				}
			}
			return true
		})
	}
	for _, file := range parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			if node, ok := node.(*ast.SelectorExpr); ok && isStated(node.X, stated) {
				found = append(found, place(node.Sel.Pos()))
			}
			return true
		})
	}
	return found
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	root, _ = filepath.EvalSymlinks(root)
	count, _ := strconv.Atoi(os.Args[2])
	seed, _ := strconv.ParseInt(os.Args[3], 10, 64)
	text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			module = strings.TrimSpace(name)
		}
	}
	filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if entry.IsDir() {
			if name := entry.Name(); path != root && (name[0] == '.' || name[0] == '_' || name == "testdata") {
				return filepath.SkipDir
			}
			if names, _ := filepath.Glob(filepath.Join(path, "*.go")); len(names) > 0 {
				relative, _ := filepath.Rel(root, path)
				check(strings.TrimSuffix(module+"/"+filepath.ToSlash(relative), "/."))
			}
		}
		return nil
	})
	uses := map[types.Object][]token.Pos{}
	files, isRead := []string{}, map[string]bool{}
	for _, file := range parsed {
		files = append(files, place(file.Pos())[0].(string))
		isRead[fset.Position(file.Pos()).Filename] = true
	}
	var definitions []types.Object
	for ident, object := range info.Defs {
		if object == nil || ident.Name == "_" || object.Pkg() == nil || !isRead[fset.Position(ident.Pos()).Filename] {
			continue
		}
		uses[object] = append(uses[object], ident.Pos())
		variable, isVariable := object.(*types.Var)
		if of, ok := object.Type().Underlying().(*types.Struct); ok {
			if _, isType := object.(*types.TypeName); isType {
				for i := range of.NumFields() {
					named[of.Field(i)] = true
				}
			}
		}
		isTop := object.Parent() == object.Pkg().Scope()
		_, isFunction := object.(*types.Func)
		isField := isVariable && variable.IsField() && !variable.Embedded()
		if isTop || isFunction || isField {
			definitions = append(definitions, object)
		}
	}
	for ident, object := range info.Uses {
		switch origin := object.(type) {
		case *types.Func:
			object = origin.Origin()
		case *types.Var:
			object = origin.Origin()
		}
		uses[object] = append(uses[object], ident.Pos())
	}
	sort.Slice(definitions, func(i, j int) bool { return definitions[i].Pos() < definitions[j].Pos() })
	rand.New(rand.NewSource(seed)).Shuffle(len(definitions), func(i, j int) {
		definitions[i], definitions[j] = definitions[j], definitions[i]
	})
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]any{"files": files, "declared": declared()})
	for _, object := range definitions[:min(count, len(definitions))] {
		at := place(object.Pos())
		references := [][]any{}
		for _, pos := range uses[object] {
			references = append(references, place(pos))
		}
		out.Encode(map[string]any{"name": object.Name(), "kind": kindOf(object), "file": at[0], "line": at[1],
			"column": at[2], "references": references})
	}
}
