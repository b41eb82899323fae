// Prints the definitions of Kotlin files as the compiler's PSI has them: PATH, line, kind, name and container, separated by tabs.
// usage: java -cp kotlin-compiler.jar:… Kotlin.java < LIST-OF-FILES, with the jars of the package `kotlin-compiler`.
// Kinds: package, class, interface, enum, object, variant, type, function, method, constructor, property, variable, and
// `optional` for what only its own block sees. A file with errors prints PATH and `unreadable`.
import com.intellij.openapi.util.Disposer;
import com.intellij.openapi.util.text.StringUtilRt;
import com.intellij.psi.PsiElement;
import com.intellij.psi.PsiErrorElement;
import com.intellij.psi.util.PsiTreeUtil;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.stream.*;
import org.jetbrains.kotlin.cli.FrontendConfigurationKeysKt;
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar;
import org.jetbrains.kotlin.cli.jvm.compiler.*;
import org.jetbrains.kotlin.config.CompilerConfiguration;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.config.CommonConfigurationKeys;
import org.jetbrains.kotlin.psi.*;

public class Kotlin {
    static final PrintStream OUT = new PrintStream(new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws IOException {
        var configuration = new CompilerConfiguration();
        FrontendConfigurationKeysKt.setExtensionsStorage(configuration, new CompilerPluginRegistrar.ExtensionStorage());
        configuration.put(CommonConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
        var environment = KotlinCoreEnvironment.createForProduction(
            Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
        var files = new KtPsiFactory(environment.getProject(), false);
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String path : input.lines().collect(Collectors.toList())) {
            String text = StringUtilRt.convertLineSeparators(Files.readString(Path.of(path)));
            KtFile file = files.createFile(Path.of(path).getFileName().toString(), text);
            if (PsiTreeUtil.findChildOfType(file, PsiErrorElement.class) != null) {
                OUT.println(path + "\tunreadable");
                continue;
            }
            var directive = file.getPackageDirective();
            if (directive != null && directive.getPackageNameExpression() != null) {
                print(path, text, "package", directive.getText().replaceFirst("^package\\s+", "").trim(), directive.getPackageNameExpression(), "");
            }
            for (KtNamedDeclaration declaration : PsiTreeUtil.findChildrenOfType(file, KtNamedDeclaration.class)) {
                visit(path, text, declaration);
            }
        }
        OUT.flush();
        System.exit(0);
    }

    static void print(String path, String text, String kind, String name, PsiElement at, String container) {
        long line = text.substring(0, at.getTextOffset()).chars().filter(c -> c == '\n').count() + 1;
        OUT.println(String.join("\t", path, Long.toString(line), kind, name, container));
    }

    static void visit(String path, String text, KtNamedDeclaration declaration) {
        var type = PsiTreeUtil.getParentOfType(declaration, KtClassOrObject.class);
        // What an unnamed companion has is written as its class's.
        while (type instanceof KtObjectDeclaration && ((KtObjectDeclaration) type).isCompanion() && type.getNameIdentifier() == null) {
            type = PsiTreeUtil.getParentOfType(type, KtClassOrObject.class);
        }
        String container = type == null || type.getName() == null ? "" : type.getName();
        boolean isMember = declaration.getParent() instanceof KtClassBody;
        boolean isTop = declaration.getParent() instanceof KtFile || (declaration.getParent() instanceof KtBlockExpression
            && declaration.getParent().getParent() instanceof KtScript);
        String kind;
        PsiElement name = declaration.getNameIdentifier();
        if (declaration instanceof KtEnumEntry) {
            kind = "variant";
        } else if (declaration instanceof KtClass) {
            var own = (KtClass) declaration;
            kind = own.isInterface() ? "interface" : own.isEnum() ? "enum" : "class";
        } else if (declaration instanceof KtObjectDeclaration) {
            kind = "object";
        } else if (declaration instanceof KtTypeAlias) {
            kind = "type";
        } else if (declaration instanceof KtNamedFunction) {
            kind = isMember ? "method" : "function";
        } else if (declaration instanceof KtSecondaryConstructor) {
            kind = "constructor";
            name = ((KtSecondaryConstructor) declaration).getConstructorKeyword();
        } else if (declaration instanceof KtProperty) {
            kind = isMember ? "property" : "variable";
        } else if (declaration instanceof KtParameter && ((KtParameter) declaration).hasValOrVar()) {
            kind = "property";
            isMember = true;
        } else if (declaration instanceof KtDestructuringDeclarationEntry) {
            kind = "variable";
            isTop = declaration.getParent().getParent() instanceof KtFile;
        } else {
            return;
        }
        if (name == null) {
            return;
        }
        boolean isLocal = !(isTop || isMember) || PsiTreeUtil.getParentOfType(declaration, KtFunction.class, KtPropertyAccessor.class,
            KtClassInitializer.class, KtLambdaExpression.class) != null && !(declaration instanceof KtParameter);
        isLocal |= PsiTreeUtil.getParentOfType(declaration, KtObjectLiteralExpression.class) != null;
        if (declaration instanceof KtParameter) {
            isLocal = ((KtClassOrObject) PsiTreeUtil.getParentOfType(declaration, KtClassOrObject.class)).isLocal();
        }
        print(path, text, isLocal ? "optional" : kind, name.getText().replace("`", ""), name, container);
    }
}
