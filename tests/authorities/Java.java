// Prints the definitions of Java files as javac reads them: PATH, line, kind, name and container, separated by tabs.
// usage: java --add-exports jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED Java.java < LIST-OF-FILES. Kinds: package, module, class, interface, enum, record, variant, constructor,
// method, field, and `optional` for what only its own block sees. A file with errors prints PATH and `unreadable`.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import com.sun.tools.javac.tree.JCTree;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.Modifier;
import javax.tools.*;

public class Java {
    static final PrintStream OUT = new PrintStream(new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var compiler = ToolProvider.getSystemJavaCompiler();
        for (String path : input.lines().collect(Collectors.toList())) {
            var errors = new DiagnosticCollector<JavaFileObject>();
            var files = compiler.getStandardFileManager(errors, null, StandardCharsets.UTF_8);
            var task = (JavacTask) compiler.getTask(null, files, errors, List.of("-proc:none"), null, files.getJavaFileObjects(path));
            CompilationUnitTree unit = task.parse().iterator().next();
            if (errors.getDiagnostics().stream().anyMatch(one -> one.getKind() == Diagnostic.Kind.ERROR)) {
                OUT.println(path + "\tunreadable");
            } else {
                new Definitions(path, unit, Trees.instance(task).getSourcePositions()).scan(unit, null);
            }
            files.close();
        }
        OUT.flush();
    }

    static class Definitions extends TreeScanner<Void, Void> {
        final String path;
        final CompilationUnitTree unit;
        final SourcePositions positions;
        final String text;
        final Deque<ClassTree> types = new ArrayDeque<>();
        int blocks = 0;

        Definitions(String path, CompilationUnitTree unit, SourcePositions positions) throws IOException {
            this.path = path;
            this.unit = unit;
            this.positions = positions;
            this.text = unit.getSourceFile().getCharContent(true).toString();
        }

        /** Prints the name of a declaration: the first whole word that is it from its position on, outside of comments. */
        void print(String kind, String name, Tree tree) {
            int at = ((JCTree) tree).pos;
            while (at < text.length()) {
                if (text.startsWith("//", at)) {
                    at = text.indexOf('\n', at);
                } else if (text.startsWith("/*", at)) {
                    at = text.indexOf("*/", at) + 2;
                } else if (text.startsWith(name, at) && !isPart(at - 1) && !isPart(at + name.length())) {
                    break;
                } else {
                    at++;
                }
            }
            String container = types.isEmpty() ? "" : types.peek().getSimpleName().toString();
            long line = unit.getLineMap().getLineNumber(at);
            OUT.println(String.join("\t", path, Long.toString(line), blocks > 0 ? "optional" : kind, name, container));
        }

        boolean isPart(int at) {
            return at >= 0 && at < text.length() && Character.isJavaIdentifierPart(text.charAt(at));
        }

        @Override
        public Void visitPackage(PackageTree node, Void nothing) {
            long at = positions.getStartPosition(unit, node.getPackageName());
            OUT.println(String.join("\t", path, Long.toString(unit.getLineMap().getLineNumber(at)), "package", node.getPackageName().toString(), ""));
            return null;
        }

        @Override
        public Void visitModule(ModuleTree node, Void nothing) {
            long at = positions.getStartPosition(unit, node.getName());
            OUT.println(String.join("\t", path, Long.toString(unit.getLineMap().getLineNumber(at)), "module", node.getName().toString(), ""));
            return null;
        }

        @Override
        public Void visitClass(ClassTree node, Void nothing) {
            String name = node.getSimpleName().toString();
            if (!name.isEmpty()) {
                String kind = switch (node.getKind()) {
                    case INTERFACE, ANNOTATION_TYPE -> "interface";
                    case ENUM -> "enum";
                    case RECORD -> "record";
                    default -> "class";
                };
                print(kind, name, node);
            }
            int outer = blocks;
            // What an unnamed class defines is seen by its own block.
            blocks = name.isEmpty() && blocks == 0 ? 1 : blocks;
            types.push(node);
            super.visitClass(node, nothing);
            types.pop();
            blocks = outer;
            return null;
        }

        @Override
        public Void visitMethod(MethodTree node, Void nothing) {
            long start = positions.getStartPosition(unit, node);
            String own = types.peek().getSimpleName().toString();
            // The constructor that the language adds has the position of the class.
            boolean isAdded = node.getName().contentEquals("<init>") && start == positions.getStartPosition(unit, types.peek());
            if (node.getName().contentEquals("<init>")) {
                if (!isAdded && positions.getEndPosition(unit, node) >= 0) {
                    print("constructor", own, node);
                }
            } else {
                print("method", node.getName().toString(), node);
            }
            scan(node.getModifiers(), nothing);
            blocks++;
            scan(node.getBody(), nothing);
            blocks--;
            return null;
        }

        @Override
        public Void visitVariable(VariableTree node, Void nothing) {
            ClassTree type = types.peek();
            boolean isMember = type != null && type.getMembers().contains(node);
            if (isMember) {
                // `Flags.ENUM`
                boolean isVariant = (((JCTree.JCModifiers) node.getModifiers()).flags & 1 << 14) != 0;
                print(isVariant ? "variant" : "field", node.getName().toString(), node);
            }
            int outer = blocks;
            blocks = isMember ? blocks : blocks + 1;
            scan(node.getInitializer(), nothing);
            blocks = outer;
            return null;
        }

        @Override
        public Void visitBlock(BlockTree node, Void nothing) {
            blocks++;
            super.visitBlock(node, nothing);
            blocks--;
            return null;
        }

        @Override
        public Void visitLambdaExpression(LambdaExpressionTree node, Void nothing) {
            blocks++;
            super.visitLambdaExpression(node, nothing);
            blocks--;
            return null;
        }
    }
}
