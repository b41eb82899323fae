// The references to definitions of Java, by the attributed trees of javac.
// usage: java --add-exports jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED --add-exports jdk.compiler/com.sun.tools.javac.code=ALL-UNNAMED JavaReferences.java
//     FOLDER COUNT SEED [OPTION-OF-JAVAC…]
// Prints the files and the names of members whose receivers have stated types, {files: […], declared: [[file, line, column], …]}, then one JSON
// object a line: {name, kind, file, line, column, references: [[file, line, column], …]}, columns in code points from 1.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import com.sun.tools.javac.code.Symbol;
import com.sun.tools.javac.tree.JCTree;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.type.TypeKind;
import javax.tools.*;

public class JavaReferences {
    static final Map<Symbol, Set<String>> USES = new LinkedHashMap<>();
    static final Map<Symbol, String[]> DEFINED = new LinkedHashMap<>();
    static final Set<String> DECLARED = new TreeSet<>();
    static final Set<String> CONSTRUCTORS = new HashSet<>();
    static Path root;

    public static void main(String[] arguments) throws IOException {
        root = Path.of(arguments[0]).toRealPath();
        List<Path> paths;
        try (var all = Files.walk(root)) {
            paths = all.filter(path -> path.toString().endsWith(".java") && !path.endsWith("module-info.java")).sorted().collect(Collectors.toList());
        }
        var compiler = ToolProvider.getSystemJavaCompiler();
        var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        var options = new ArrayList<>(List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-nowarn"));
        options.addAll(List.of(arguments).subList(3, arguments.length));
        var task = (JavacTask) compiler.getTask(null, files, one -> { }, options, null, files.getJavaFileObjectsFromPaths(paths));
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        for (var unit : units) {
            new Uses(unit, Trees.instance(task)).scan(unit, null);
        }
        var out = new PrintStream(new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8);
        var names = paths.stream().map(path -> "\"" + root.relativize(path) + "\"").collect(Collectors.joining(", "));
        out.println("{\"files\": [" + names + "], \"declared\": [" + String.join(", ", DECLARED) + "]}");
        var symbols = new ArrayList<>(DEFINED.keySet());
        Collections.shuffle(symbols, new Random(Long.parseLong(arguments[2])));
        for (var symbol : symbols.subList(0, Math.min(symbols.size(), Integer.parseInt(arguments[1])))) {
            var at = DEFINED.get(symbol);
            // Overloads are one symbol.
            var uses = new LinkedHashSet<String>();
            USES.forEach((other, found) -> {
                if (other.name == symbol.name && other.owner == symbol.owner && other.kind == symbol.kind) {
                    uses.addAll(found);
                }
            });
            uses.removeAll(CONSTRUCTORS);
            out.println("{\"name\": \"" + symbol.getSimpleName() + "\", \"kind\": \"" + at[0] + "\", " + at[1] + ", \"references\": ["
                + String.join(", ", uses) + "]}");
        }
        out.flush();
    }

    static class Uses extends TreePathScanner<Void, Void> {
        final CompilationUnitTree unit;
        final Trees trees;
        final String text;
        final String path;

        Uses(CompilationUnitTree unit, Trees trees) throws IOException {
            this.unit = unit;
            this.trees = trees;
            this.text = unit.getSourceFile().getCharContent(true).toString();
            this.path = root.relativize(Path.of(unit.getSourceFile().toUri()).toRealPath()).toString();
        }

        /** The first whole word of that name from an offset on; -1 if there is none nearby. */
        int name(int from, String name) {
            for (int at = from; at >= 0 && at < Math.min(text.length(), from + 400); at++) {
                if (text.startsWith(name, at) && !isPart(at - 1) && !isPart(at + name.length())) {
                    return at;
                }
            }
            return -1;
        }

        boolean isPart(int at) {
            return at >= 0 && at < text.length() && Character.isJavaIdentifierPart(text.charAt(at));
        }

        String position(int at) {
            int start = text.lastIndexOf('\n', at - 1) + 1;
            long line = text.substring(0, at).chars().filter(c -> c == '\n').count() + 1;
            return "\"" + path + "\", " + line + ", " + (text.codePointCount(start, at) + 1);
        }

        void define(Tree tree, String kind) {
            var symbol = (Symbol) trees.getElement(getCurrentPath());
            if (symbol == null) {
                return;
            }
            int at = name(((JCTree) tree).pos, symbol.getSimpleName().toString());
            if (at >= 0) {
                var parts = position(at).split(", ");
                DEFINED.put(symbol, new String[] {kind, "\"file\": " + parts[0] + ", \"line\": " + parts[1] + ", \"column\": " + parts[2]});
            }
        }

        void use(String name, int from, boolean isDeclared) {
            if (!(trees.getElement(getCurrentPath()) instanceof Symbol)) {
                return;
            }
            var symbol = ((Symbol) trees.getElement(getCurrentPath())).baseSymbol();
            int at = name(from, name);
            if (at < 0) {
                return;
            }
            USES.computeIfAbsent(symbol, one -> new LinkedHashSet<>()).add("[" + position(at) + "]");
            if (isDeclared) {
                DECLARED.add("[" + position(at) + "]");
            }
        }

        /** Whether the code states the type of a value: that of a variable, of its fields, or a type itself. */
        boolean isStated(ExpressionTree value) {
            if (value instanceof MemberSelectTree) {
                return isStated(((MemberSelectTree) value).getExpression());
            }
            if (!(value instanceof IdentifierTree)) {
                return false;
            }
            var symbol = (Symbol) trees.getElement(new TreePath(getCurrentPath(), value));
            if (!(symbol instanceof Symbol.VarSymbol)) {
                return true;
            }
            var declared = trees.getTree(symbol);
            boolean isImplied = declared instanceof JCTree.JCVariableDecl && ((JCTree.JCVariableDecl) declared).declaredUsingVar();
            // Only fields and the parameters of methods keep their trees.
            return !isImplied && symbol.type.getKind() == TypeKind.DECLARED && !LAMBDAS.contains(symbol);
        }

        static final Set<Symbol> LAMBDAS = new HashSet<>();

        @Override
        public Void visitLambdaExpression(LambdaExpressionTree node, Void nothing) {
            for (var parameter : node.getParameters()) {
                LAMBDAS.add(((JCTree.JCVariableDecl) parameter).sym);
            }
            return super.visitLambdaExpression(node, nothing);
        }

        @Override
        public Void visitClass(ClassTree node, Void nothing) {
            if (!node.getSimpleName().toString().isEmpty()) {
                define(node, "type");
            }
            return super.visitClass(node, nothing);
        }

        @Override
        public Void visitMethod(MethodTree node, Void nothing) {
            if (node.getReturnType() != null) {
                define(node, "method");
            } else {
                var around = ((JCTree.JCMethodDecl) node).sym;
                int at = around == null ? -1 : name(((JCTree) node).pos, around.owner.name.toString());
                CONSTRUCTORS.add(at < 0 ? "" : "[" + position(at) + "]");
            }
            return super.visitMethod(node, nothing);
        }

        @Override
        public Void visitVariable(VariableTree node, Void nothing) {
            var symbol = ((JCTree.JCVariableDecl) node).sym;
            if (symbol != null && symbol.owner instanceof Symbol.ClassSymbol) {
                define(node, "field");
            } else if (symbol != null && ((JCTree.JCVariableDecl) node).declaredUsingVar()) {
                LAMBDAS.add(symbol);
            }
            return super.visitVariable(node, nothing);
        }

        @Override
        public Void visitIdentifier(IdentifierTree node, Void nothing) {
            int start = (int) trees.getSourcePositions().getStartPosition(unit, node);
            // What the compiler adds to an enumeration is not in the text.
            if (start >= 0 && text.startsWith(node.getName().toString(), start)) {
                use(node.getName().toString(), start, true);
            }
            return super.visitIdentifier(node, nothing);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree node, Void nothing) {
            int end = (int) trees.getSourcePositions().getEndPosition(unit, node.getExpression());
            use(node.getIdentifier().toString(), end, isStated(node.getExpression()));
            return super.visitMemberSelect(node, nothing);
        }

        @Override
        public Void visitMemberReference(MemberReferenceTree node, Void nothing) {
            int end = (int) trees.getSourcePositions().getEndPosition(unit, node.getQualifierExpression());
            use(node.getName().toString(), end, isStated(node.getQualifierExpression()));
            return super.visitMemberReference(node, nothing);
        }
    }
}
