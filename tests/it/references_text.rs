//! References that are read from the text: every position of a name, by what blocks, imports and types say of it.
//!
//! The expected positions of a test are what the language's own compiler or service says; its name and version are with the test.

use std::time::Instant;

use ixmcp::budget::Budget;
use ixmcp::query::occurrences::{ReadingTime, mentions};
use ixmcp::store::{Mode, Snapshot, Store};
use serde_json::{Value, json};

use crate::support::harness::Repo;

/// `file:line:column` of all references to what is at a position, in the order of their texts, and the last page.
pub fn references(repo: &Repo, file: &str, line: u32, column: u32) -> (Vec<String>, Value) {
    let mut all = Vec::new();
    let mut offset = 0;
    loop {
        let given = json!({ "file": file, "line": line, "column": column, "limit": 1000, "offset": offset });
        let answer = repo.call("find_references", &given);
        let found = answer["references"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let shown = |one: &Value| format!("{}:{}:{}", one["file"].as_str().unwrap(), one["line"], one["column"]);
        all.extend(found.iter().map(shown));
        let Some(next) = answer["next_offset"].as_u64() else {
            all.sort();
            return (all, answer);
        };
        offset = next;
    }
}

/// Checks all positions of what is at each position.
pub fn check(repo: &Repo, expected: &[(&str, u32, u32, &str)]) {
    let mut wrong = Vec::new();
    for (file, line, column, wanted) in expected {
        let (found, _) = references(repo, file, *line, *column);
        let mut wanted: Vec<&str> = wanted.split_whitespace().collect();
        wanted.sort_unstable();
        if found != wanted {
            wrong.push(format!("{file}:{line}:{column}\n  found  {}\n  wanted {}", found.join(" "), wanted.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The language service of typescript 5.9.3.
#[test]
fn typescript_names_are_found_in_every_position_and_under_every_alias() {
    let repo = Repo::new(
        "\
//- /signal.ts
export const beacon = { level: 1, name: 'harbor' };
export let tide = 0;

export function moor(rope: string, knots = tide) {
  tide++;
  return tide > knots ? beacon : undefined;
}

export function unrelated(beacon: number, { tide }: { tide: number }) {
  const moor = beacon + tide;
  return [moor].map((tide) => tide + 1);
}
//- /index.ts
export { moor as makeFast, tide } from './signal';
export { default as Lamp } from './lamp';
//- /lamp.ts
import { beacon } from './signal';

export default class {
  private wick = beacon.level;
  trim() {
    return this.wick + (beacon?.level ?? 0);
  }
}
//- /harbor.tsx
import { Lamp, makeFast, tide as water } from './index';
import * as signal from './signal';

type Beacon = typeof signal.beacon;
const lit: Beacon = signal.beacon;
const table = { moor: 1, tide: water, makeFast, [signal.tide]: signal.moor };

export function Harbor({ label = `${water} ${signal.tide}` }) {
  const run = makeFast;
  if (!water || water > signal.tide) {
    return <p title={label}>{water} {run('moor', signal.tide)?.level}</p>;
  }
  // tide and moor
  const lamp = new Lamp();
  return lit.level as number - lamp.trim();
}
",
    );
    check(
        &repo,
        &[
            (
                "signal.ts",
                1,
                14,
                "harbor.tsx:4:29 harbor.tsx:5:28 lamp.ts:1:10 lamp.ts:4:18 lamp.ts:6:25 signal.ts:1:14 signal.ts:6:25",
            ),
            (
                "signal.ts",
                2,
                12,
                "harbor.tsx:10:17 harbor.tsx:10:32 harbor.tsx:10:8 harbor.tsx:11:30 harbor.tsx:11:57 harbor.tsx:1:26 \
                 harbor.tsx:1:34 harbor.tsx:6:32 harbor.tsx:6:57 harbor.tsx:8:37 harbor.tsx:8:53 index.ts:1:28 \
                 signal.ts:2:12 signal.ts:4:44 signal.ts:5:3 signal.ts:6:10",
            ),
            (
                "signal.ts",
                4,
                17,
                "harbor.tsx:1:16 harbor.tsx:6:39 harbor.tsx:6:71 harbor.tsx:9:15 index.ts:1:10 index.ts:1:18 \
                 signal.ts:4:17",
            ),
            ("lamp.ts", 3, 8, "harbor.tsx:14:20 harbor.tsx:1:10 index.ts:2:10 index.ts:2:21 lamp.ts:3:8"),
            ("lamp.ts", 4, 11, "lamp.ts:4:11 lamp.ts:6:17"),
            // Variables of blocks.
            ("signal.ts", 9, 27, "signal.ts:10:16 signal.ts:9:27"),
            ("signal.ts", 11, 22, "signal.ts:11:22 signal.ts:11:31"),
            ("harbor.tsx", 9, 9, "harbor.tsx:11:38 harbor.tsx:9:9"),
        ],
    );
}

/// The language service of typescript 5.9.3, but for the names that are taken out of `require('./tool')`: it does not follow them.
#[test]
fn modules_of_commonjs_are_followed_by_what_they_export() {
    let repo = Repo::new(
        "\
//- /build.js
'use strict';

module.exports = function build(kind) {
  return kind === 'deep' ? build('shallow') : kind;
};
//- /tool.js
function clamp(value) {
  return value;
}
function local(clamp) { return clamp; }
module.exports = { cap: clamp, local };
//- /nameless.js
module.exports = (a) => a;
//- /main.js
const build = require('./build');
const make = require('./build');
const { cap: top } = require('./tool');
const other = require('./nameless');
const fs = require('fs');

build('a');
make('b');
console.log(top(2), [build].length, other(1), fs);
",
    );
    check(
        &repo,
        &[
            (
                "build.js",
                3,
                27,
                "build.js:3:27 build.js:4:28 main.js:1:7 main.js:2:7 main.js:7:1 main.js:8:1 main.js:9:22",
            ),
            ("tool.js", 1, 10, "main.js:3:9 main.js:3:14 main.js:9:13 tool.js:1:10 tool.js:5:25"),
            ("nameless.js", 1, 8, "main.js:4:7 main.js:9:37 nameless.js:1:8"),
            ("main.js", 5, 7, "main.js:5:7 main.js:9:47"),
        ],
    );
}

/// `go/types` of Go 1.27.3.
#[test]
fn go_names_are_found_in_every_position() {
    let repo = Repo::new(
        "\
//- /go.mod
module example.com/harbor
//- /harbor.go
package harbor

import \"fmt\"

const maxRopes = 3

var tide = 1

type Ship struct {
	name  string
	ropes int
}

func moor(ship *Ship, tide int) (err error) {
	if ship.ropes > maxRopes {
		tide++
		return fmt.Errorf(\"too many: %d of %d\", ship.ropes, maxRopes)
	}
	ship.ropes++
	return nil
}

func (s *Ship) run(n int) int {
	tide := tide + n
	for maxRopes := range tide {
		tide += maxRopes
	}
	switch n {
	case maxRopes:
		n--
	}
	fn := moor
	_ = fn(s, n)
	return tide
}
//- /fleet.go
package harbor

var hooks = map[string]func(*Ship, int) error{\"moor\": moor}

func fleet() []Ship {
	tide++
	name := \"x\"
	ships := []Ship{{name: name, ropes: maxRopes}}
	byName := map[string]int{name: tide}
	ships[0].name = name
	var ch chan int
	select {
	case tide := <-ch:
		_ = tide
	case ch <- tide:
	}
	_ = byName
	return append(ships, Ship{ropes: 1 << maxRopes, name: \"tide\"})
}
",
    );
    check(
        &repo,
        &[
            (
                "harbor.go",
                9,
                6,
                "fleet.go:18:23 fleet.go:3:30 fleet.go:5:16 fleet.go:8:13 harbor.go:14:17 harbor.go:23:10 harbor.go:9:6",
            ),
            (
                "harbor.go",
                5,
                7,
                "fleet.go:18:40 fleet.go:8:38 harbor.go:15:18 harbor.go:17:55 harbor.go:29:7 harbor.go:5:7",
            ),
            ("harbor.go", 14, 6, "fleet.go:3:55 harbor.go:14:6 harbor.go:32:8"),
            ("harbor.go", 10, 2, "fleet.go:10:11 fleet.go:18:50 fleet.go:8:19 harbor.go:10:2"),
            (
                "harbor.go",
                11,
                2,
                "fleet.go:18:28 fleet.go:8:31 harbor.go:11:2 harbor.go:15:10 harbor.go:17:48 harbor.go:19:7",
            ),
            ("harbor.go", 7, 5, "fleet.go:15:13 fleet.go:6:2 fleet.go:9:33 harbor.go:24:10 harbor.go:7:5"),
            ("harbor.go", 25, 6, "harbor.go:25:6 harbor.go:26:11"),
            ("harbor.go", 24, 2, "harbor.go:24:2 harbor.go:25:24 harbor.go:26:3 harbor.go:34:9"),
            ("fleet.go", 9, 27, "fleet.go:10:18 fleet.go:7:2 fleet.go:8:25 fleet.go:9:27"),
        ],
    );
}

/// The attributed trees of javac 17.
#[test]
fn java_fields_and_constants_are_found_in_every_position() {
    let repo = Repo::new(
        "\
//- /harbor/Harbor.java
package harbor;

import java.util.List;
import java.util.function.ToIntFunction;

class Harbor extends Base {
    static final int LIMIT = 3;
    private int count;
    private final List<Ship> ships;

    Harbor(List<Ship> ships, int count) {
        this.ships = ships;
        this.count = count;
    }

    int run(int n) {
        if (n > count) {
            count++;
        }
        int limit = LIMIT;
        for (int count = 0; count < limit; count++) {
            n += count;
        }
        ToIntFunction<Ship> f = this::cost;
        ToIntFunction<Ship> g = ship -> 1 + cost(ship);
        switch (n) {
            case LIMIT: return -count;
            default: return count + f.applyAsInt(ships.get(0)) + (count == 1 ? g.applyAsInt(null) : total);
        }
    }

    int cost(Ship ship) {
        return ship.count;
    }

    @Deprecated(since = \"LIMIT\")
    int[] table = new int[LIMIT + 1];

    class Inner {
        int count;
        int both() { return count + total; }
    }
}
//- /harbor/Base.java
package harbor;

class Base {
    protected int total = Harbor.LIMIT;
    int twice() { return total + total; }
}
//- /harbor/Ship.java
package harbor;

class Ship {
    int count;
    Ship(int count) { this.count = count; }
    int total(int total) { return total + count; }
}
",
    );
    let (harbor, base) = ("harbor/Harbor.java", "harbor/Base.java");
    let at = |positions: &[(&str, &str)]| {
        let shown = positions.iter().flat_map(|(file, at)| at.split(' ').map(move |at| format!("{file}:{at}")));
        shown.collect::<Vec<_>>().join(" ")
    };
    let limit = at(&[(base, "4:34"), (harbor, "20:21 27:18 37:27 7:22")]);
    let count = at(&[(harbor, "13:14 17:17 18:13 27:33 28:29 28:67 8:17")]);
    let ships = at(&[(harbor, "12:14 28:50 9:30")]);
    let cost = at(&[(harbor, "24:39 25:45 32:9")]);
    let total = at(&[(base, "4:19 5:26 5:34"), (harbor, "28:101 41:37")]);
    let inner = at(&[(harbor, "40:13 41:29")]);
    let of_loop = at(&[(harbor, "21:18 21:29 21:44 22:18")]);
    check(
        &repo,
        &[
            (harbor, 7, 22, &limit),
            (harbor, 8, 17, &count),
            (harbor, 9, 30, &ships),
            (harbor, 32, 9, &cost),
            (base, 4, 19, &total),
            (harbor, 40, 13, &inner),
            (harbor, 21, 18, &of_loop),
        ],
    );
}

/// clangd 22.1.1, which shows the expansions of a macro where the body is asked for here.
#[test]
fn c_names_are_found_in_every_position_and_in_macros() {
    let repo = Repo::new(
        "\
//- /harbor.c
#include \"harbor.h\"

static int debug_level = 1;
#define TRACE(fmt) do { if (debug_level > 2) log_line(fmt); } while (0)

static int moor(struct ship *ship, int debug_level)
{
	ship->ropes += debug_level;
	return ship->ropes;
}

int run(struct ship *ship)
{
	int (*hook)(struct ship *, int) = moor;
	struct ship other = { .ropes = debug_level, .next = ship };

	TRACE(\"run\");
	if (debug_level > 1 && !moor(ship, 2))
		goto moor;
	while (other.ropes--)
		debug_level++;
	/* moor and debug_level */
	return debug_level ? hook(&other, sizeof(debug_level)) : capacity[ship->ropes];
moor:
	return -debug_level;
}
//- /harbor.h
#ifndef HARBOR_H
#define HARBOR_H
struct ship {
	int ropes;
	struct ship *next;
};
extern int capacity[4];
void log_line(const char *line);
int run(struct ship *ship);
#endif
//- /other.c
#include \"harbor.h\"

int capacity[4] = { 1, 2 };

static int debug_level;

void log_line(const char *line)
{
	struct ship ship = { 0 };
	int capacity = debug_level;

	if (line)
		capacity += run(&ship);
	ship.ropes = capacity;
}

int total(void)
{
	int (*f)(struct ship *) = run;
	return capacity[0] + (f == run);
}
",
    );
    check(
        &repo,
        &[
            (
                "harbor.c",
                3,
                12,
                "harbor.c:15:33 harbor.c:18:6 harbor.c:21:3 harbor.c:23:43 harbor.c:23:9 harbor.c:25:10 harbor.c:3:12 \
                 harbor.c:4:29",
            ),
            ("harbor.c", 6, 12, "harbor.c:14:36 harbor.c:18:26 harbor.c:6:12"),
            (
                "harbor.h",
                4,
                6,
                "harbor.c:15:25 harbor.c:20:15 harbor.c:23:74 harbor.c:8:8 harbor.c:9:15 harbor.h:4:6 other.c:14:7",
            ),
            ("other.c", 5, 12, "other.c:10:17 other.c:5:12"),
            ("harbor.c", 12, 5, "harbor.c:12:5 harbor.h:9:5 other.c:13:15 other.c:19:28 other.c:20:29"),
            ("other.c", 10, 6, "other.c:10:6 other.c:13:3 other.c:14:15"),
        ],
    );
}

/// A field or value in lower case, one line for each position: those with `!` refer to it, by the language's specification.
fn check_lines(name: &str, path: &str, text: &str) {
    let repo = Repo::new(&format!("//- /{path}\n{}", text.replace('!', " ").replace('§', "!")));
    let lines: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| line.ends_with('!')).map(|(at, _)| at + 1).collect();
    let at = lines[0];
    let line = text.lines().nth(at - 1).unwrap();
    let column = line.find(name).unwrap() + 1;
    let (found, answer) = references(&repo, path, u32::try_from(at).unwrap(), u32::try_from(column).unwrap());
    let mut found: Vec<usize> = found.iter().map(|one| one.split(':').nth(1).unwrap().parse().unwrap()).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, lines, "{path}: {answer}");
}

#[test]
fn csharp_kotlin_and_scala_fields_are_found_in_every_position() {
    check_lines(
        "_count",
        "A.cs",
        "\
class A
{
    private int _count = 1;!
    int Run(int n, System.Func<int, int> f)
    {
        if (n > _count)!
        {
            _count++;!
        }
        var text = $\"{_count}\" + \"_count\";!
        f(x => x + _count);!
        f(_count => _count + 1);
        int Other(int _count) => _count;
        var pair = new B { _count = n };
        switch (n) { case 1: return -_count; }!
        return (int)_count + this._count;!
    }
    public int Next => _count + 1;!
}
class B { public int _count; }
",
    );
    check_lines(
        "count",
        "A.kt",
        "\
package a
class A(private var count: Int) {!
    fun run(n: Int): Int {
        if (n > count) {!
            count++!
        }
        val text = \"$count ${count + 1} count\"!
        listOf(1).map { it + count }!
        listOf(1).map { count -> count + 1 }
        for (count in 0..n) { print(count) }
        return when (n) { count -> -count else -> this.count }!
    }
    fun other(count: Int) = count
    val next get() = count + 1!
}
",
    );
    check_lines(
        "count",
        "A.scala",
        "\
package a
class A {
  private var count = 0!
  def run(n: Int): Int = {
    if (n > count) count += 1!
    val text = s\"$count ${count + 1} count\"!
    List(1).map(x => x + count)!
    List(1).map(count => count + 1)
    n match { case 0 => -count!
      case count => count }
    for (count <- 0 to n) yield count
    count!
  }
  def other(count: Int) = count
}
",
    );
}

#[test]
fn rust_swift_and_dart_values_are_found_in_every_position() {
    check_lines(
        "helper",
        "src/lib.rs",
        "\
pub fn helper() -> i32 { 1 }!
pub static CALLS: [fn() -> i32; 1] = [helper];!
pub fn run(n: i32) -> i32 {
    let f: fn() -> i32 = helper;!
    let boxed = Box::new(helper as fn() -> i32);!
    if n > helper() { return helper(); }!
    let helper = helper() + 1;!
    println§(\"{helper}\");
    [1].iter().map(|helper| helper + 1).sum::<i32>() + f() + boxed()
}
pub fn twice() -> i32 {
    assert_eq§(helper(), 1);!
    match Some(1) { Some(helper) => helper, None => helper() }!
}
pub struct S { helper: i32 }
impl S { fn helper(&self) -> i32 { self.helper } }
",
    );
    check_lines(
        "count",
        "A.swift",
        "\
class A {
    private var count = 0!
    func run(n: Int) -> Int {
        if n > count { count += 1 }!
        let text = \"\\(count) count\"!
        let all = [1].map { x in x + count }!
        let none = [1].map { count in count + 1 }
        guard let count = Optional(n) else { return self.count }!
        return count
    }
    func other(count: Int) -> Int { return count }
    var next: Int { return count + 1 }!
}
",
    );
    check_lines(
        "_count",
        "a.dart",
        "\
class A {
  int _count = 0;!
  int run(int n) {
    if (n > _count) _count++;!
    final text = '$_count ${_count + 1} _count';!
    [1].map((x) => x + _count);!
    [1].map((_count) => _count + 1);
    for (var _count = 0; _count < n; _count++) {}
    return n == 1 ? -_count : this._count;!
  }
  int other(int _count) => _count;
  int get next => _count + 1;!
}
",
    );
}

#[test]
fn lua_ruby_and_php_values_are_found_in_every_position() {
    check_lines(
        "count",
        "a.lua",
        "\
local count = 0!
local function run(n)
  if n > count then count = count + 1 end!
  local t = { count = 1, n = count }!
  t.count = 2
  for i = count, n do print(i) end!
  return -count!
end
local function other(count) return count end
return { run = run, other = other, count = count }!
",
    );
    check_lines(
        "limit",
        "a.rb",
        "\
class A
  def limit!
    3
  end
  def run(n)
    return limit if n > limit!
    [1].map { |x| x + limit }!
    [1].map { |limit| limit + 1 }
    text = \"#{limit} limit\"!
    self.limit!
  end
  def other(limit)
    limit
  end
end
",
    );
    check_lines(
        "LIMIT",
        "a.php",
        "\
<?php
const LIMIT = 3;!
function run($n, $LIMIT) {
    if ($n > LIMIT) return LIMIT;!
    $all = [LIMIT => 1, 'LIMIT' => 2, $LIMIT];!
    return \"$LIMIT\" . LIMIT;!
}
",
    );
}

#[test]
fn get_symbol_lists_every_occurrence() {
    let repo = Repo::new(
        "\
//- /a.py
limit = 3
limits = 4


def clamp(n, step=limit):
    if n > limit:
        return limit
    return f\"{limit} limit\"


def other(limit):
    return limit


def taken():
    global limit
    limit += 1
//- /b.ts
export const io = 1;
export function run(n: number) {
  return n > io ? [io] : -io;
}
",
    );
    let lines = |name: &str| -> Vec<u64> {
        let answer = repo.call("get_symbol", &json!({ "symbol_name": name, "limit": 100 }));
        assert_eq!(answer.get("complete"), None, "{answer}");
        let mut lines: Vec<u64> =
            answer["symbols"].as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    assert_eq!(lines("limit"), [1, 5, 6, 7, 8, 16, 17]);
    assert_eq!(lines("io"), [1, 3], "a name of two characters");
    assert_eq!(references(&repo, "b.ts", 1, 14).0, ["b.ts:1:14", "b.ts:3:14", "b.ts:3:20", "b.ts:3:27"]);
}

#[test]
fn callers_and_subclasses_use_other_names() {
    let repo = Repo::new(
        "\
//- /pkg/__init__.py
from .impl import Target as PublicTarget
//- /pkg/impl.py
class Target:
    pass
//- /caller.py
from pkg import PublicTarget


def makes():
    return PublicTarget()


class Heir(PublicTarget):
    pass
//- /lamp.ts
export default class {
  trim() {}
}
export function light() {}
export { light as shine };
//- /use.ts
import Lantern from './lamp';
import { shine } from './lamp';

export class Torch extends Lantern {}
export function go() {
  shine();
}
",
    );
    let related = |name: &str, relation: &str| -> Vec<String> {
        let answer = repo.call("get_symbol", &json!({ "symbol_name": name, "relations": true }));
        let groups = answer["relations"][0]["groups"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let group = groups.iter().find(|group| group["relation"] == relation);
        let items = group.map_or(&[][..], |group| group["items"].as_array().unwrap());
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(related("Target", "called_by"), ["makes"]);
    assert_eq!(related("Target", "inherited_by"), ["Heir"]);
    assert_eq!(related("light", "called_by"), ["go"]);
    assert_eq!(related("default", "inherited_by"), ["Torch"]);
}

/// Templates are not code of the language that is parsed.
#[test]
fn what_is_not_parsed_is_said() {
    let repo = Repo::new(
        "\
//- /signal.ts
export const tide = 1;
//- /View.vue
<script setup lang=\"ts\">
import { tide } from './signal';
const next = tide + 1;
</script>
<template><p>{{ tide }}</p></template>
",
    );
    let (found, answer) = references(&repo, "signal.ts", 1, 14);
    assert_eq!(found, ["View.vue:2:10", "View.vue:3:14", "signal.ts:1:14"]);
    assert_eq!(answer["complete"], false);
    assert_eq!(answer["reason"], "Occurrences in templates that were not resolved: 1.");
}

/// More files than are read at once: all of them are read when all pages are asked for.
#[test]
fn a_name_of_many_files_is_found_on_all_pages() {
    let mut text = "//- /a/signal.ts\nexport const tide = 1;\n".to_owned();
    for number in 0..230 {
        text += &format!(
            "//- /a/b{number}.ts\nimport {{ tide }} from './signal';\nexport const x{number} = [1].map((tide) => tide) || tide;\n"
        );
    }
    let repo = Repo::new(&text);
    let (found, last) = references(&repo, "a/signal.ts", 1, 14);
    assert_eq!(found.len(), 1 + 2 * 230, "{last}");
    assert_eq!((&last["total"], last.get("complete")), (&json!(found.len()), None));
    assert_eq!(last["truncated"], false);
}

/// Files of other languages may name a member by hundreds; what a program calls is in the files of its own language.
#[test]
fn time_bounds_the_files_of_other_languages_too() {
    let mut text = "//- /a/queue.rs\npub struct Queue;\nimpl Queue {\n    pub fn index(&self) {}\n}\n\
                    pub fn first(queue: &Queue) {\n    queue.index();\n}\n"
        .to_owned();
    for number in 0..230 {
        text += &format!("//- /c/ring{number}.c\nvoid turn{number}(struct ring *ring) {{ ring->index(1); }}\n");
    }
    let repo = Repo::new(&text);
    repo.ok(&["sync"]);
    let store = Store::open(&repo.path().join(".ixmcp/index.db"), Mode::Read).unwrap();
    let time = ReadingTime { until: Some(Instant::now()), ..ReadingTime::unlimited() };
    let read = |snapshot: &Snapshot| mentions(snapshot, &snapshot.definitions("index")?, &time);
    let found = store.read(&Budget::unlimited(), read).unwrap();
    assert_eq!(found.unfinished, Some((1, 231)));
    let found: Vec<(&str, u32)> = found.found.iter().map(|one| (one.path.as_str(), one.line)).collect();
    assert_eq!(found, [("a/queue.rs", 3), ("a/queue.rs", 6)]);
}
