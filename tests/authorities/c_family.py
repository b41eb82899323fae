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
@interface NSObject @end
typedef signed char BOOL; typedef long NSInteger; typedef unsigned long NSUInteger; typedef double CGFloat; typedef double NSTimeInterval;
typedef struct { double x, y; } CGPoint, CGSize, CGRect, UIEdgeInsets, CGAffineTransform, NSRange; typedef unsigned short unichar;
#define NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_END
#define NS_DESIGNATED_INITIALIZER
#define NS_UNAVAILABLE
#define NS_REQUIRES_SUPER
#define NS_SWIFT_NAME(name)
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) enum name : type name; enum name : type
#define FOUNDATION_EXPORT extern
#define UIKIT_EXTERN extern
"""


def frameworks(text):
    """What a file of Objective-C names of other files, as declarations without contents."""
    own = set(re.findall(r"@interface\s+(\w+)\s*(?::|<|$|\{)", text, re.M)) | set(re.findall(r"^typedef\b[^;{}]*?(\w+);", text, re.M))
    extended = set(re.findall(r"@interface\s+(\w+)\s*\(|@interface\s+\w+\s*:\s*(\w+)", text))
    bases = {name for pair in extended for name in pair if name} - own - {"NSObject"}
    named = set(re.findall(r"\b([A-Z]\w+)(?:<[^<>;{}()]*>)?\s*\*", text)) - own - bases - {"NSObject", "BOOL"}
    protocols = {name for group in re.findall(r"<\s*([A-Z]\w+(?:\s*,\s*[A-Z]\w+)*)\s*>", text) for name in re.findall(r"\w+", group)}
    declared = set(re.findall(r"@protocol\s+(\w+)\s*(?:<|$)", text, re.M))
    lines = [f"@interface {name} : NSObject @end" for name in sorted(bases)] + [f"@class {name};" for name in sorted(named)]
    lines += [f"@protocol {name} @end" for name in sorted(protocols - declared)]
    return FRAMEWORKS + "\n".join(lines) + "\n"


class RangeList(Structure):
    _fields_ = [("count", c_uint), ("ranges", POINTER(SourceRange))]


conf.lib.clang_disposeSourceRangeList.argtypes = [POINTER(RangeList)]
conf.lib.clang_Location_isFromMainFile.argtypes = [SourceLocation]
conf.lib.clang_getSkippedRanges.argtypes = [TranslationUnit, c_object_p]
conf.lib.clang_getSkippedRanges.restype = POINTER(RangeList)


def is_forward(cursor):
    """A type that is only declared: no definition of this file."""
    return cursor.kind in TYPES and not cursor.is_definition()


def visit(cursor, container, is_local, out):
    for child in cursor.get_children():
        place = child.location
        if not conf.lib.clang_Location_isFromMainFile(place):
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
            own = out["text"][place.offset:place.offset + 200].decode("utf-8", "replace")
            word = name.split("<")[0] if child.kind in (K.CONSTRUCTOR, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION) else name
            if child.kind == K.CONVERSION_FUNCTION:
                # Named by its type, as it is written.
                word = re.sub(r"^operator\s+|\bconst\b|[\s*&]+$", "", own.split("(")[0]).strip()
            elif own.startswith("operator"):
                word = re.match(r"operator\s*(\(\s*\)|[^(]*)", own).group(0).strip()
            if ":" in word and child.kind in FUNCTIONS:
                word = word.split(":")[0]
            if own.startswith(word) or own.startswith("operator"):
                out["rows"].append((place.line, "optional" if optional else kind, word, container))
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
        unsaved = []
        if language == "objective-c":
            arguments += ["-fblocks", "-fobjc-runtime=macosx", "-include", "/frameworks.h"]
            text = open(path, errors="replace").read()
            own = re.sub(r"^[ \t]*(#[ \t]*(?:import|include)\b|@import\b).*$", "", text, flags=re.M)
            unsaved = [("/frameworks.h", frameworks(text)), (path, own)]
        unit = index.parse(path, arguments, unsaved_files=unsaved, options=flags)
        errors = [one for one in unit.diagnostics if one.severity >= 3 and one.location.file and one.location.file.name == path]
        # After a fatal error, such as a missing header, clang says nothing of what else it does not know.
        faults = errors or [one for one in unit.diagnostics if one.severity == 4]
        if faults:
            print(path, "unreadable", faults[0].location.line, faults[0].spelling, sep="\t")
            continue
        out = {"rows": [], "text": unsaved[1][1].encode() if unsaved else open(path, "rb").read()}
        visit(unit.cursor, "", False, out)
        skipped = conf.lib.clang_getSkippedRanges(unit, unit.get_file(path))
        for at in range(skipped.contents.count):
            extent = skipped.contents.ranges[at]
            out["rows"].append((extent.start.line, "inside", str(extent.end.line), ""))
        conf.lib.clang_disposeSourceRangeList(skipped)
        for row in sorted(set(out["rows"])):
            print(path, *row, sep="\t")


main()
