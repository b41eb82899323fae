#!/usr/bin/env python3
"""Prints the definitions of C, C++ and Objective-C files as clang reads them: PATH, line, kind, name and container, with tabs.

Frameworks of Objective-C need not be there: what a file names of them is declared in front of it. Methods have the first part of
their selector, extensions the name of their class, as in the index.

usage: c_family.py LANGUAGE [CLANG-OPTION…] < LIST-OF-FILES, with the package `libclang`. LANGUAGE: c, c++ or objective-c.
Kinds: function, method, constructor, class, struct, union, enum, variant, field, type, namespace, macro, variable,
protocol, property, and `optional` for what only its own block sees. `inside` are lines that the preprocessor left out or a macro
made: from its line to that of the fourth column. A file with errors prints PATH and `unreadable`.
"""
import re
import sys
from ctypes import POINTER, Structure, c_uint

from clang.cindex import CursorKind, Index, SourceLocation, SourceRange, TranslationUnit, c_object_p, conf

K = CursorKind
KINDS = {
    K.FUNCTION_DECL: "function", K.FUNCTION_TEMPLATE: "function", K.CXX_METHOD: "method", K.CONSTRUCTOR: "constructor",
    K.DESTRUCTOR: "method", K.CONVERSION_FUNCTION: "method", K.CLASS_DECL: "class", K.CLASS_TEMPLATE: "class",
    K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: "class", K.STRUCT_DECL: "struct", K.UNION_DECL: "union", K.ENUM_DECL: "enum",
    K.ENUM_CONSTANT_DECL: "variant", K.FIELD_DECL: "field", K.TYPEDEF_DECL: "type", K.TYPE_ALIAS_DECL: "type",
    K.TYPE_ALIAS_TEMPLATE_DECL: "type", K.NAMESPACE: "namespace", K.NAMESPACE_ALIAS: "namespace", K.VAR_DECL: "variable",
    K.MACRO_DEFINITION: "macro", K.OBJC_INTERFACE_DECL: "class", K.OBJC_PROTOCOL_DECL: "protocol",
    K.OBJC_CATEGORY_DECL: "class", K.OBJC_IMPLEMENTATION_DECL: "implementation", K.OBJC_CATEGORY_IMPL_DECL: "implementation",
    K.OBJC_INSTANCE_METHOD_DECL: "method", K.OBJC_CLASS_METHOD_DECL: "method", K.OBJC_PROPERTY_DECL: "property",
    K.OBJC_IVAR_DECL: "field", K.CONCEPT_DECL: "type",
}
TYPES = {K.CLASS_DECL, K.CLASS_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION, K.STRUCT_DECL, K.UNION_DECL, K.ENUM_DECL}
FUNCTIONS = {K.FUNCTION_DECL, K.FUNCTION_TEMPLATE, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.CONVERSION_FUNCTION,
             K.OBJC_INSTANCE_METHOD_DECL, K.OBJC_CLASS_METHOD_DECL}


FRAMEWORKS = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define nil ((id)0)
#define YES ((BOOL)1)
#define NO ((BOOL)0)
typedef signed char BOOL;
@interface NSObject @end
@interface NSArray<T> : NSObject @end
@interface NSMutableArray<T> : NSArray @end
@interface NSSet<T> : NSObject @end
@interface NSMutableSet<T> : NSSet @end
@interface NSOrderedSet<T> : NSObject @end
@interface NSMutableOrderedSet<T> : NSOrderedSet @end
@interface NSHashTable<T> : NSObject @end
@interface NSEnumerator<T> : NSObject @end
@interface NSDictionary<K, V> : NSObject @end
@interface NSMutableDictionary<K, V> : NSDictionary @end
@interface NSMapTable<K, V> : NSObject @end
@interface NSCache<K, V> : NSObject @end
 typedef long NSInteger; typedef unsigned long NSUInteger; typedef double CGFloat; typedef double NSTimeInterval;
typedef struct { double x, y; } CGPoint, CGSize, CGRect, UIEdgeInsets, CGAffineTransform, NSRange; typedef unsigned short unichar;
#define NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_END
#define NS_DESIGNATED_INITIALIZER
#define NS_UNAVAILABLE
#define NS_REQUIRES_SUPER
#define NS_SWIFT_NAME(name)
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_CLOSED_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) enum name : type name; enum name : type
#define FOUNDATION_EXPORT extern
#define UIKIT_EXTERN extern
#define NS_INLINE static inline
#define __unused
#define NAN (0.0)
typedef void (^dispatch_block_t)(void);
typedef NSObject *dispatch_queue_t;
#define RCT_EXTERN extern
#define RCT_EXPORT_MODULE(...)
#define RCT_EXPORT_PRE_REGISTERED_MODULE(...)
#define RCT_EXPORT_METHOD(method) - (void)method
#define RCT_REMAP_METHOD(name, method) - (void)method
#define RCT_EXPORT_BLOCKING_SYNCHRONOUS_METHOD(method) - (id)method
#define RCT_EXPORT_SYNCHRONOUS_TYPED_METHOD(type, method) - (type)method
#define RCT_EXPORT_VIEW_PROPERTY(...)
#define RCT_REMAP_VIEW_PROPERTY(...)
#define RCT_EXPORT_SHADOW_PROPERTY(...)
#define RCT_REMAP_SHADOW_PROPERTY(...)
#define RCT_CUSTOM_VIEW_PROPERTY(name, type, view_class) - (void)set_##name:(id)json forView:(view_class *)view withDefaultView:(view_class *)other
#define RCT_CUSTOM_SHADOW_PROPERTY(name, type, view_class) - (void)set_##name:(id)json forShadowView:(view_class *)view
#define RCT_NOT_IMPLEMENTED(...)
#define RCT_CONVERTER(...)
#define RCT_CUSTOM_CONVERTER(...)
#define RCT_ENUM_CONVERTER(...)
#define RCT_MULTI_ENUM_CONVERTER(...)
#define RCT_ARRAY_CONVERTER(...)
#define RCT_ARRAY_CONVERTER_NAMED(...)
#define RCT_MOCK_DEF(...)
#define RCT_MOCK_REF(...)
#define EX_EXPORT_MODULE(...)
#define EX_REGISTER_MODULE(...)
#define EX_REGISTER_SINGLETON_MODULE(...)
"""
FRAMEWORK_TYPES = set(re.findall(r"\w+", FRAMEWORKS))


def frameworks(text):
    """What a file of Objective-C names of other files, as declarations without contents."""
    own = set(re.findall(r"@interface\s+(\w+)\s*(?::|<|$|\{)", text, re.M)) | set(re.findall(r"^typedef\b[^;{}]*?(\w+);", text, re.M))
    extended = set(re.findall(r"@(?:interface|implementation)\s+(\w+)\s*\(|@interface\s+\w+\s*:\s*(\w+)", text))
    bases = {name for pair in extended for name in pair if name} - own - FRAMEWORK_TYPES
    named = set(re.findall(r"\b([A-Z]\w+)(?=(?:<[^;{}()]*?>)?\s*\*)", text)) - own - bases - FRAMEWORK_TYPES
    protocols = {name for group in re.findall(r"<\s*([A-Z]\w+(?:\s*,\s*[A-Z]\w+)*)\s*>", text) for name in re.findall(r"\w+", group)}
    declared = set(re.findall(r"@protocol\s+(\w+)\s*(?:<|$)", text, re.M))
    lines = [f"@interface {name} : NSObject @end" for name in sorted(bases)] + [f"@class {name};" for name in sorted(named)]
    lines += [f"@protocol {name} @end" for name in sorted(protocols - declared)]
    return FRAMEWORKS + "\n".join(lines) + "\n"


def parse_objective_c(index, path, arguments, flags):
    """Parses a file of Objective-C, with each type that clang does not know declared; returns the unit, and the text that was parsed."""
    text = open(path, errors="replace").read()
    blank = lambda found: re.sub(r"[^\n]", " ", found.group(0))
    # Imports, and storage of properties that a header declares.
    own = re.sub(r"^[ \t]*(?:#[ \t]*(?:import|include)\b|@import\b).*$|@(?:synthesize|dynamic)\b[^;]*;", blank, text, flags=re.M)
    declared, added = frameworks(text), set()
    for _ in range(8):
        unit = index.parse(path, arguments, unsaved_files=[("/frameworks.h", declared), (path, own)], options=flags)
        faults = [one for one in unit.diagnostics if one.severity >= 3]
        unknown = {name for fault in faults for name in re.findall(r"^unknown type name '(\w+)'", fault.spelling)}
        for fault in faults:
            if fault.spelling == "expected a type" and fault.location.file.name == path:
                unknown.add(re.match(rb"\w*", own.encode()[fault.location.offset:]).group(0).decode())
        unknown -= {""} | added
        added |= unknown
        if not unknown:
            break
        declared += "".join(f"typedef int {name};\n" for name in sorted(unknown))
    return unit, own.encode()


class RangeList(Structure):
    _fields_ = [("count", c_uint), ("ranges", POINTER(SourceRange))]


conf.lib.clang_disposeSourceRangeList.argtypes = [POINTER(RangeList)]
conf.lib.clang_Location_isFromMainFile.argtypes = [SourceLocation]
conf.lib.clang_getSkippedRanges.argtypes = [TranslationUnit, c_object_p]
conf.lib.clang_getSkippedRanges.restype = POINTER(RangeList)
conf.lib.clang_getFileLocation.argtypes = [SourceLocation, POINTER(c_object_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)]


def written(location):
    """The line and offset at which a name is written, if need be as the argument of a macro."""
    file, line, column, offset = c_object_p(), c_uint(), c_uint(), c_uint()
    conf.lib.clang_getFileLocation(location, file, line, column, offset)
    return line.value, offset.value


def is_forward(cursor):
    """A type that is only declared: no definition of this file."""
    return cursor.kind in TYPES and not cursor.is_definition()


def visit(cursor, container, is_local, out):
    for child in cursor.get_children():
        place = child.location
        # `NS_ENUM(NSInteger, Level) { … }`: the macro makes the head, and the file has the body.
        is_enum = child.kind == K.ENUM_DECL and child.is_definition()
        is_here = is_enum and place.file and place.file.name == out["path"]
        if not is_here and not conf.lib.clang_Location_isFromMainFile(place):
            # A namespace whose braces are macros: what is in it is the file's.
            if child.kind == K.NAMESPACE and place.file and place.file.name == out["path"]:
                visit(child, container, is_local, out)
            continue
        kind = KINDS.get(child.kind)
        if child.kind == K.MACRO_INSTANTIATION:
            out["rows"].append((child.extent.start.line, "inside", str(child.extent.end.line), ""))
        name = child.spelling
        if child.kind in (K.OBJC_CATEGORY_DECL, K.OBJC_CATEGORY_IMPL_DECL):
            name = re.match(rb"\w*", out["text"][place.offset:]).group(0).decode()
        # What a macro makes is at the position where it is invoked: its name is not there.
        is_unnamed = child.kind != K.FIELD_DECL and child.is_anonymous()
        is_named = bool(name) and not is_unnamed and "(" not in name.split("operator")[0]
        if kind and is_named:
            optional = is_local or is_forward(child)
            line, offset = place.line, place.offset
            if is_enum:
                line, offset = written(place)
            own = out["text"][offset:offset + 200].decode("utf-8", "replace")
            is_operator = re.match(r"operator\b", own)
            is_conversion = re.match(r"operator\s+(?!new\b|delete\b|co_await\b)\w", own)
            named = (K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION)
            word = name.split("<")[0] if child.kind in named and not is_operator else name
            if is_conversion:
                # Named by its type, as it is written.
                word = re.sub(r"^operator\s+|\bconst\b|[\s*&]+$", "", own.split("(")[0]).strip()
            elif is_operator:
                word = re.match(r"operator\s*(\(\s*\)|[^(]*)", own).group(0).strip()
            if child.kind in (K.OBJC_INSTANCE_METHOD_DECL, K.OBJC_CLASS_METHOD_DECL):
                word = word.split(":")[0]
            if own.startswith(word) or is_operator:
                out["rows"].append((line, "optional" if optional else kind, word, container))
        if child.kind == K.MACRO_DEFINITION and child.extent.end.line > place.line:
            out["rows"].append((place.line + 1, "inside", str(child.extent.end.line), ""))
        inner = container
        if child.kind in TYPES or child.kind in (K.NAMESPACE, K.OBJC_INTERFACE_DECL, K.OBJC_PROTOCOL_DECL, K.OBJC_CATEGORY_DECL):
            inner = name if is_named else container
        visit(child, inner, is_local or child.kind in FUNCTIONS, out)


def main():
    language, options = sys.argv[1], sys.argv[2:]
    index = Index.create()
    flags = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | TranslationUnit.PARSE_INCOMPLETE
    for path in sys.stdin.read().splitlines():
        arguments = ["-x", language, "-ferror-limit=0", *options]
        text = None
        if language == "objective-c":
            arguments += ["-fblocks", "-fobjc-arc", "-fobjc-runtime=macosx-12.0", "-include", "/frameworks.h"]
            # What other files declare matters to statements alone.
            unit, text = parse_objective_c(index, path, arguments, flags | TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
        else:
            unit = index.parse(path, arguments, options=flags)
        errors = [one for one in unit.diagnostics if one.severity >= 3 and one.location.file and one.location.file.name == path]
        # After a fatal error, such as a missing header, clang says nothing of what else it does not know.
        faults = errors or [one for one in unit.diagnostics if one.severity == 4]
        if faults:
            print(path, "unreadable", faults[0].location.line, faults[0].spelling, sep="\t")
            continue
        out = {"path": path, "rows": [], "text": text or open(path, "rb").read()}
        visit(unit.cursor, "", False, out)
        skipped = conf.lib.clang_getSkippedRanges(unit, unit.get_file(path))
        for at in range(skipped.contents.count):
            extent = skipped.contents.ranges[at]
            out["rows"].append((extent.start.line, "inside", str(extent.end.line), ""))
        conf.lib.clang_disposeSourceRangeList(skipped)
        for row in sorted(set(out["rows"])):
            print(path, *row, sep="\t")


main()
