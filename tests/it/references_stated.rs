//! References to members through values of stated types, and to types under all forms of their names.
//!
//! The expected positions of a test are what the language's own compiler or service says; its name and version are with the test.
//! `tests/authorities` has the programs that print them.

use crate::references_text::check;
use crate::support::harness::Repo;

/// javac 17.0.15: constructors are references to their type, `Outer.this.`, calls and imports have their form, types from outside have no member here.
#[test]
fn java_members_are_those_of_the_stated_types() {
    let repo = Repo::new(
        r#"//- /Cart.java
package shop;

import java.lang.invoke.MethodHandles;
import java.util.function.Function;

class Cart {
    static final Cart EMPTY = new Cart();
    private int invoke;
    private int count;

    Cart() {}

    int count() { return count; }

    void run() {
        Thread thread = new Thread(this::close);
        thread.start();
        Integer.toString(count());
        Cart.class.hashCode();
        Function<Integer, Cart> maker = Cart::from;
    }

    void start() { super.toString(); }
    void close() { new Item().add(1); }
    public String toString() { return "cart"; }
    public int hashCode() { return Mode.FAST.weight; }
    static Cart from(int n) { return new Cart(); }

    class Item {
        void close() { Cart.this.close(); }
        void add(int n) { Cart.this.count += n; }
    }
}

enum Mode {
    FAST(1);
    final int weight;
    Mode(int weight) { this.weight = weight; }
}

class Load {
    int weight;
    int read(Object other, Mode mode) { return ((Load) other).weight + mode.weight; }

    int rank(Mode mode) {
        switch (mode) {
            case FAST: return 1;
            default: return 0;
        }
    }
}
"#,
    );
    check(
        &repo,
        &[
            (
                "Cart.java",
                6,
                7,
                "Cart.java:19:9 Cart.java:20:27 Cart.java:20:41 Cart.java:27:12 Cart.java:27:42 Cart.java:30:24 Cart.java:31:27 Cart.java:6:7 Cart.java:7:18 Cart.java:7:35",
            ),
            ("Cart.java", 7, 23, "Cart.java:7:23"),
            ("Cart.java", 8, 17, "Cart.java:8:17"),
            ("Cart.java", 9, 17, "Cart.java:13:26 Cart.java:31:37 Cart.java:9:17"),
            ("Cart.java", 13, 9, "Cart.java:13:9 Cart.java:18:26"),
            ("Cart.java", 15, 10, "Cart.java:15:10"),
            ("Cart.java", 23, 10, "Cart.java:23:10"),
            ("Cart.java", 24, 10, "Cart.java:16:42 Cart.java:24:10 Cart.java:30:34"),
            ("Cart.java", 25, 19, "Cart.java:25:19"),
            ("Cart.java", 26, 16, "Cart.java:26:16"),
            ("Cart.java", 27, 17, "Cart.java:20:47 Cart.java:27:17"),
            ("Cart.java", 29, 11, "Cart.java:24:24 Cart.java:29:11"),
            ("Cart.java", 30, 14, "Cart.java:30:14"),
            ("Cart.java", 31, 14, "Cart.java:24:31 Cart.java:31:14"),
            ("Cart.java", 35, 6, "Cart.java:26:36 Cart.java:35:6 Cart.java:43:28 Cart.java:45:14"),
            ("Cart.java", 36, 5, "Cart.java:26:41 Cart.java:36:5 Cart.java:47:18"),
            ("Cart.java", 37, 15, "Cart.java:26:46 Cart.java:37:15 Cart.java:38:29 Cart.java:43:77"),
            ("Cart.java", 41, 7, "Cart.java:41:7 Cart.java:43:50"),
            ("Cart.java", 42, 9, "Cart.java:42:9 Cart.java:43:63"),
            ("Cart.java", 43, 9, "Cart.java:43:9"),
            ("Cart.java", 45, 9, "Cart.java:45:9"),
        ],
    );
}

/// `go/types` 1.27: embedded fields, values of packages, types from outside.
#[test]
fn go_members_are_those_of_the_stated_types() {
    let repo = Repo::new(
        r#"//- /go.mod
module pipe
//- /pipe.go
package pipe

import (
	"io"
	"sync"
)

type Reader struct{ io.ReadCloser }

func (r *Reader) Drain(p []byte) { r.ReadCloser.Read(p) }

type conn struct {
	rwc io.Closer
	sync.Mutex
}

var single = &conn{}
var gate sync.Mutex

func (c *conn) Read(p []byte) {}
func (c *conn) Close()        { c.rwc.Close() }
func (c *conn) Unlock()       { c.Mutex.Unlock() }
func (c *conn) Error() string { return "conn" }

func shut(err error, w *conn) string {
	gate.Unlock()
	single.Unlock()
	w.Read(nil)
	return err.Error() + w.Error()
}
"#,
    );
    check(
        &repo,
        &[
            ("pipe.go", 8, 6, "pipe.go:10:10 pipe.go:8:6"),
            ("pipe.go", 10, 18, "pipe.go:10:18"),
            (
                "pipe.go",
                12,
                6,
                "pipe.go:12:6 pipe.go:17:15 pipe.go:20:10 pipe.go:21:10 pipe.go:22:10 pipe.go:23:10 pipe.go:25:25",
            ),
            ("pipe.go", 13, 2, "pipe.go:13:2 pipe.go:21:35"),
            ("pipe.go", 17, 5, "pipe.go:17:5 pipe.go:27:2"),
            ("pipe.go", 18, 5, "pipe.go:18:5 pipe.go:26:2"),
            ("pipe.go", 20, 16, "pipe.go:20:16 pipe.go:28:4"),
            ("pipe.go", 21, 16, "pipe.go:21:16"),
            ("pipe.go", 22, 16, "pipe.go:22:16 pipe.go:27:9"),
            ("pipe.go", 23, 16, "pipe.go:23:16 pipe.go:29:25"),
            ("pipe.go", 25, 6, "pipe.go:25:6"),
        ],
    );
}

/// clangd 22.1.1: types behind `typedef`, casts and elements, prototypes in sources, a structure and its `typedef`.
#[test]
fn c_members_are_those_of_the_stated_types() {
    let repo = Repo::new(
        r#"//- /ring.c
#include "ring.h"
extern int ring_width(ring *r);
static int ring_grow(ring *r, int len) {
    return r->len += len;
}
int ring_total(const ring *r) {
    span_t span = { 0 };
    ring *all[2] = { 0 };
    span.len = r->next->len + r->prev->len;
    return span.len + all[1]->len + ((span_t *)r)->len + ring_width(0);
}
void ring_reset(ring *r) { ring_grow(r, 1); }
//- /ring.h
struct ring;
typedef struct ring ring;
struct ring {
    int len;
    ring *next, *prev;
};
typedef struct { int len; } span_t;
static int ring_grow(ring *r, int len);
int ring_total(const ring *r);
void ring_reset(ring *r);
//- /width.c
#include "ring.h"
int ring_width(struct ring *r) { return r ? r->len : ring_total(r); }
void ring_clear(ring *r) { ring_reset(r); }
"#,
    );
    check(
        &repo,
        &[
            ("ring.c", 2, 12, "ring.c:10:58 ring.c:2:12 width.c:2:5"),
            ("ring.c", 3, 12, "ring.c:12:28 ring.c:3:12 ring.h:8:12"),
            ("ring.c", 6, 5, "ring.c:6:5 ring.h:9:5 width.c:2:54"),
            ("ring.c", 12, 6, "ring.c:12:6 ring.h:10:6 width.c:3:28"),
            (
                "ring.h",
                1,
                8,
                "ring.c:12:17 ring.c:2:23 ring.c:3:22 ring.c:6:22 ring.c:8:5 ring.h:10:17 ring.h:1:8 ring.h:2:16 ring.h:2:21 ring.h:3:8 ring.h:5:5 ring.h:8:22 ring.h:9:22 width.c:2:23 width.c:3:17",
            ),
            (
                "ring.h",
                2,
                21,
                "ring.c:12:17 ring.c:2:23 ring.c:3:22 ring.c:6:22 ring.c:8:5 ring.h:10:17 ring.h:1:8 ring.h:2:16 ring.h:2:21 ring.h:3:8 ring.h:5:5 ring.h:8:22 ring.h:9:22 width.c:2:23 width.c:3:17",
            ),
            (
                "ring.h",
                3,
                8,
                "ring.c:12:17 ring.c:2:23 ring.c:3:22 ring.c:6:22 ring.c:8:5 ring.h:10:17 ring.h:1:8 ring.h:2:16 ring.h:2:21 ring.h:3:8 ring.h:5:5 ring.h:8:22 ring.h:9:22 width.c:2:23 width.c:3:17",
            ),
            ("ring.h", 4, 9, "ring.c:10:31 ring.c:4:15 ring.c:9:25 ring.c:9:40 ring.h:4:9 width.c:2:48"),
            ("ring.h", 5, 11, "ring.c:9:19 ring.h:5:11"),
            ("ring.h", 5, 18, "ring.c:9:34 ring.h:5:18"),
            ("ring.h", 7, 22, "ring.c:10:17 ring.c:10:52 ring.c:9:10 ring.h:7:22"),
            ("ring.h", 7, 29, "ring.c:10:39 ring.c:7:5 ring.h:7:29"),
            ("ring.h", 8, 12, "ring.c:12:28 ring.c:3:12 ring.h:8:12"),
            ("ring.h", 9, 5, "ring.c:6:5 ring.h:9:5 width.c:2:54"),
            ("ring.h", 10, 6, "ring.c:12:6 ring.h:10:6 width.c:3:28"),
            ("width.c", 2, 5, "ring.c:10:58 ring.c:2:12 width.c:2:5"),
            ("width.c", 3, 6, "width.c:3:6"),
        ],
    );
}

/// The language service of typescript 5.9.3: `this` with a stated type.
#[test]
fn typescript_members_are_those_of_the_stated_types() {
    let repo = Repo::new(
        r#"//- /action.ts
export interface Scheduled {
  schedule(delay?: number): void;
}
export class Animation {
  schedule() {}
  next() {}
}
export function dispatch(this: Scheduled, iterator: Iterator<number>, animation: Animation) {
  this.schedule();
  iterator.next();
  animation.next();
}
"#,
    );
    check(
        &repo,
        &[
            ("action.ts", 1, 18, "action.ts:1:18 action.ts:8:32"),
            ("action.ts", 4, 14, "action.ts:4:14 action.ts:8:82"),
            ("action.ts", 5, 3, "action.ts:5:3"),
            ("action.ts", 6, 3, "action.ts:11:13 action.ts:6:3"),
            ("action.ts", 8, 17, "action.ts:8:17"),
        ],
    );
}

/// rust-analyzer 1.95.0, which does not follow the name that an import gives: variants by `use Enum::*`, lists in lists, a module next to a parameter.
#[test]
fn rust_variants_and_modules_are_found() {
    let repo = Repo::new(
        r#"//- /Cargo.toml
[package]
name = "x"
version = "0.1.0"
edition = "2021"
//- /src/ast.rs
#[derive(Clone, Copy)]
pub enum Class {
    Digit,
    Space,
}

pub enum Other {
    Digit,
}

impl Class {
    pub fn name(self) -> &'static str {
        use self::Class::*;
        match self {
            Digit => "digit",
            Space => "space",
        }
    }
}
//- /src/lib.rs
pub mod ast;
pub mod print;

use crate::{
    ast::{Class, Other},
    print::{self, other as differs},
};

pub fn run(class: &Class, other: &Other) -> bool {
    print::print(class) && differs(other)
}
//- /src/print.rs
use crate::ast::{self, Other};

pub fn print(ast: &ast::Class) -> bool {
    use crate::ast::Class::*;
    matches!(*ast, Digit | Space)
}

pub fn other(other: &Other) -> bool {
    use Other::*;
    matches!(other, Digit)
}
"#,
    );
    check(
        &repo,
        &[
            (
                "src/ast.rs",
                2,
                10,
                "src/ast.rs:11:6 src/ast.rs:13:19 src/ast.rs:2:10 src/lib.rs:5:11 src/lib.rs:9:20 src/print.rs:3:25 src/print.rs:4:21",
            ),
            ("src/ast.rs", 3, 5, "src/ast.rs:15:13 src/ast.rs:3:5 src/print.rs:5:20"),
            ("src/ast.rs", 4, 5, "src/ast.rs:16:13 src/ast.rs:4:5 src/print.rs:5:28"),
            (
                "src/ast.rs",
                7,
                10,
                "src/ast.rs:7:10 src/lib.rs:5:18 src/lib.rs:9:35 src/print.rs:1:24 src/print.rs:8:22 src/print.rs:9:9",
            ),
            ("src/ast.rs", 8, 5, "src/ast.rs:8:5 src/print.rs:10:21"),
            ("src/ast.rs", 12, 12, "src/ast.rs:12:12"),
            ("src/lib.rs", 9, 8, "src/lib.rs:9:8"),
            ("src/print.rs", 3, 8, "src/lib.rs:10:12 src/print.rs:3:8"),
        ],
    );
}

/// javac 17.0.15: members of a constant's own body, and constants in the cases of a `switch` over another type's name.
#[test]
fn java_constants_have_members_and_are_those_of_the_type_in_cases() {
    let repo = Repo::new(
        r#"//- /shop/Gear.java
package shop;

interface Hauled {
    boolean fits(Object load);
}

enum Gear implements Hauled {
    ANCHOR {
        @Override
        public boolean fits(Object load) {
            return load != null;
        }

        @Override
        int weigh(Object load) {
            return fits(load) ? 1 : 0;
        }
    },
    ROPE {
        @Override
        public boolean fits(Object load) {
            return true;
        }

        @Override
        int weigh(Object load) {
            return this.fits(load) ? 2 : limit();
        }
    };

    abstract int weigh(Object load);

    int limit() {
        return 3;
    }
}

enum Tool {
    ANCHOR,
    HOOK
}
//- /shop/Winch.java
package shop;

class Winch {
    Gear gear;
    Tool tool;

    Tool tool() {
        return tool;
    }

    int turn(Object any) {
        switch (gear) {
            case ANCHOR:
                return 1;
            case ROPE:
                return 2;
            default:
        }
        switch (tool()) {
            case ANCHOR:
                return 3;
            default:
        }
        return switch ((Gear) any) {
            case ANCHOR, ROPE -> 4;
        };
    }
}
"#,
    );
    check(
        &repo,
        &[
            ("shop/Gear.java", 8, 5, "shop/Gear.java:8:5 shop/Winch.java:13:18 shop/Winch.java:25:18"),
            ("shop/Gear.java", 10, 24, "shop/Gear.java:10:24 shop/Gear.java:16:20"),
            ("shop/Gear.java", 19, 5, "shop/Gear.java:19:5 shop/Winch.java:15:18 shop/Winch.java:25:26"),
            ("shop/Gear.java", 21, 24, "shop/Gear.java:21:24 shop/Gear.java:27:25"),
            ("shop/Gear.java", 26, 13, "shop/Gear.java:26:13"),
            ("shop/Gear.java", 33, 9, "shop/Gear.java:27:42 shop/Gear.java:33:9"),
            ("shop/Gear.java", 39, 5, "shop/Gear.java:39:5 shop/Winch.java:20:18"),
        ],
    );
}
