#!/usr/bin/env python3
"""Prints the definitions of Python files as `ast` reads them: PATH, line, kind and name, separated by tabs.

usage: python.py < LIST-OF-FILES. Kinds: class, function (methods included), type, value (a name that is assigned at module
or class level), optional (other assignments). A file that `ast` rejects prints PATH and `unreadable`.
"""
import ast
import sys


def targets(node):
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from targets(element)
    elif isinstance(node, ast.Starred):
        yield from targets(node.value)


def definitions(body, local):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, "function", node.name
            yield from definitions(node.body, True)
        elif isinstance(node, ast.ClassDef):
            yield node, "class", node.name
            yield from definitions(node.body, False)
        elif hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias):
            yield node.name, "type", node.name.id
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in targets(target):
                    yield name, "optional" if local else "value", name.id
                if isinstance(target, ast.Attribute):
                    yield target, "optional", target.attr
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            yield from ((name, "optional", name.id) for name in targets(node.target))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                yield from ((name, "optional", name.id) for name in targets(item.optional_vars))
        # The heads of statements, and simple ones.
        for child in ast.iter_child_nodes(node):
            for inner in ast.walk(child) if isinstance(child, ast.expr) else ():
                if isinstance(inner, ast.NamedExpr):
                    yield inner, "optional", inner.target.id
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, None)
            if isinstance(inner, list) and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from definitions(inner, local)
        for handler in getattr(node, "handlers", []) + getattr(node, "cases", []):
            yield from definitions(handler.body, local)


for path in sys.stdin.read().splitlines():
    try:
        source = open(path, "rb").read()
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        print(path, "unreadable", sep="\t")
        continue
    lines = source.decode("utf-8", "replace").split("\n")
    for node, kind, name in definitions(tree.body, False):
        line = node.lineno
        if kind in ("class", "function"):
            # The line of the name: the keyword may be on one before it.
            while line < len(lines) and name not in lines[line - 1]:
                line += 1
        print(path, line, kind, name, sep="\t")
