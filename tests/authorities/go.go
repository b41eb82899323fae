// Prints the definitions of Go files as `go/parser` reads them: PATH, line, kind, name and container, separated by tabs.
// usage: go run go.go < LIST-OF-FILES. Kinds: function, method, type, field (of a named type), constant, variable (of the
// package), and `optional` for what only its own function or literal sees. A file that does not parse prints PATH and `unreadable`.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
)

func typeName(expression ast.Expr) *ast.Ident {
	switch expression := expression.(type) {
	case *ast.Ident:
		return expression
	case *ast.SelectorExpr:
		return expression.Sel
	case *ast.StarExpr:
		return typeName(expression.X)
	case *ast.ParenExpr:
		return typeName(expression.X)
	case *ast.IndexExpr:
		return typeName(expression.X)
	case *ast.IndexListExpr:
		return typeName(expression.X)
	}
	return nil
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		path := lines.Text()
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			fmt.Fprintf(out, "%s\tunreadable\n", path)
			continue
		}
		print := func(kind string, name *ast.Ident, container string) {
			if name == nil {
				return
			}
			if name.Name == "_" {
				kind = "optional"
			}
			fmt.Fprintf(out, "%s\t%d\t%s\t%s\t%s\n", path, files.PositionFor(name.Pos(), false).Line, kind, name.Name, container)
		}
		// Members of the types that have names; those of other types are optional.
		named := map[ast.Node]string{}
		fields := func(list *ast.FieldList, container, kind string) {
			for _, field := range list.List {
				for _, name := range field.Names {
					print(kind, name, container)
				}
				if len(field.Names) == 0 {
					print(kind, typeName(field.Type), container)
				}
			}
		}
		depth := 0
		var visit func(ast.Node) bool
		visit = func(node ast.Node) bool {
			at := func(kind string) string {
				if depth > 0 {
					return "optional"
				}
				return kind
			}
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv != nil && len(node.Recv.List) > 0 {
					container := ""
					if receiver := typeName(node.Recv.List[0].Type); receiver != nil {
						container = receiver.Name
					}
					print("method", node.Name, container)
				} else {
					print("function", node.Name, "")
				}
				depth++
				if node.Body != nil {
					ast.Inspect(node.Body, visit)
				}
				depth--
				return false
			case *ast.TypeSpec:
				print(at("type"), node.Name, "")
				named[node.Type] = node.Name.Name
			case *ast.StructType:
				kind := "optional"
				if named[node] != "" {
					kind = at("field")
				}
				fields(node.Fields, named[node], kind)
			case *ast.InterfaceType:
				kind := "optional"
				if named[node] != "" {
					kind = at("method")
				}
				for _, field := range node.Methods.List {
					for _, name := range field.Names {
						print(kind, name, named[node])
					}
				}
			case *ast.GenDecl:
				kind := map[token.Token]string{token.CONST: "constant", token.VAR: "variable"}[node.Tok]
				for _, spec := range node.Specs {
					if values, ok := spec.(*ast.ValueSpec); ok {
						for _, name := range values.Names {
							print(at(kind), name, "")
						}
					}
				}
			case *ast.FuncLit:
				depth++
				ast.Inspect(node.Body, visit)
				depth--
				return false
			}
			return true
		}
		ast.Inspect(file, visit)
	}
}
