//! References in C and C++ that depend on headers, on the form in which a class is named, or on a signature that is cut.
//!
//! The expected positions are those of clangd 22.1.1.

use crate::references_text::check;
use crate::support::harness::Repo;

#[test]
fn the_name_of_a_class_is_named_by_its_constructors_and_before_its_members() {
    let repo = Repo::new(
        "\
//- /crate.h
namespace port {
class Crate {
 public:
  Crate() {}
  explicit Crate(int weight);
  Crate(const Crate& other);
  ~Crate();
  int Weigh(int scale) const;
  static Crate* Find(int id);
};
inline Crate::~Crate() {}
}
//- /crate.cc
#include \"crate.h\"
namespace port {
Crate::Crate(int weight) {}
Crate::Crate(const Crate& other) {}
int Crate::Weigh(int scale) const { return scale; }
Crate* Crate::Find(int id) { return new Crate(id); }
}
",
    );
    check(
        &repo,
        &[(
            "crate.h",
            2,
            7,
            "crate.cc:3:1 crate.cc:3:8 crate.cc:4:1 crate.cc:4:20 crate.cc:4:8 crate.cc:5:5 crate.cc:6:1 crate.cc:6:41 \
             crate.cc:6:8 crate.h:11:16 crate.h:11:8 crate.h:2:7 crate.h:4:3 crate.h:5:12 crate.h:6:15 crate.h:6:3 \
             crate.h:7:4 crate.h:9:10",
        )],
    );
}

/// clangd has the flag `-xc`, so that it reads headers as C.
#[test]
fn what_a_header_declares_is_what_a_source_defines() {
    let repo = Repo::new(
        "\
//- /tide.h
struct mooring { int depth; };
extern const int tide_table[4];
int tide_level_between_two_harbors_of_the_coast(const struct mooring *first_mooring_of_the_line,
                                                const struct mooring *second_mooring_of_the_line,
                                                int hours_since_the_last_high_water_at_the_first,
                                                int hours_since_the_last_high_water_at_the_other);
typedef int (*tide_source)(void *mooring, int depth);
int tide_now(struct mooring *mooring, int depth);
//- /tide.c
#include \"tide.h\"
const int tide_table[4] = {1, 2, 3, 4};
int tide_level_between_two_harbors_of_the_coast(const struct mooring *first_mooring_of_the_line,
                                                const struct mooring *second_mooring_of_the_line,
                                                int hours_since_the_last_high_water_at_the_first,
                                                int hours_since_the_last_high_water_at_the_other) {
  return first_mooring_of_the_line->depth + tide_table[hours_since_the_last_high_water_at_the_first % 4];
}
//- /main.c
#include \"tide.h\"
int main(void) {
  struct mooring a = {1}, b = {2};
  int first = tide_level_between_two_harbors_of_the_coast(&a, &b, 3, 4);
  return first + tide_table[1];
}
",
    );
    let table = "main.c:5:18 tide.c:2:11 tide.c:7:45 tide.h:2:18";
    let level = "main.c:4:15 tide.c:3:5 tide.h:3:5";
    check(
        &repo,
        &[
            ("tide.c", 2, 11, table),
            ("tide.h", 2, 18, table),
            ("tide.c", 3, 5, level),
            ("tide.h", 3, 5, level),
            ("tide.h", 1, 8, "main.c:3:10 tide.c:3:62 tide.c:4:62 tide.h:1:8 tide.h:3:62 tide.h:4:62 tide.h:8:21"),
            ("tide.h", 1, 22, "tide.c:7:37 tide.h:1:22"),
        ],
    );
}

/// clangd has the macros and types defined in front of this text.
#[test]
fn a_function_behind_unknown_words_has_its_own_name() {
    let repo = Repo::new(
        "\
//- /hash.c
PUBLIC_API Hash_errorcode Hash_update (Hash_state* state, const void* input)
{
    return 0;
}
FORCE_INLINE int
Hash_generic(const char* const source, /* read only */
             int size)
{
    return size;
}
int use(void) { return Hash_generic(0, 1) + Hash_update(0, 0); }
",
    );
    check(&repo, &[("hash.c", 1, 27, "hash.c:1:27 hash.c:11:45"), ("hash.c", 6, 1, "hash.c:11:24 hash.c:6:1")]);
}

/// clangd has the flag `-xc`. It lists no macros as symbols; those that two files define alike are two for the preprocessor of C.
#[test]
fn only_variables_with_linkage_are_one_across_files() {
    let repo = Repo::new(
        "\
//- /a.c
#define LIMIT 3
int limit_a(void) { return LIMIT; }
int shared = 1;
int own = 1;
//- /b.c
#define LIMIT 4
int limit_b(void) { return LIMIT; }
extern int shared;
static int own = 2;
int more(void) { return shared + own; }
",
    );
    let shared = "a.c:3:5 b.c:3:12 b.c:5:25";
    check(
        &repo,
        &[
            ("a.c", 1, 9, "a.c:1:9 a.c:2:28"),
            ("a.c", 3, 5, shared),
            ("b.c", 3, 12, shared),
            ("a.c", 4, 5, "a.c:4:5"),
            ("b.c", 4, 12, "b.c:4:12 b.c:5:34"),
        ],
    );
}

/// An override stands for what it overrides; a name with `new` or arguments is that of a constructor.
#[test]
fn virtual_methods_are_one_and_constructors_are_called_by_the_name_of_their_class() {
    let repo = Repo::new(
        "\
//- /gauge.h
#ifndef GAUGE_H
#define GAUGE_H
struct Gauge {
  virtual ~Gauge() {}
  virtual int Read(int at) const = 0;
  int Reset();
};
struct TideGauge : Gauge {
  explicit TideGauge(int depth);
  int Read(int at) const override;
  int Reset();
  int depth_;
};
extern void Watch(Gauge* gauge, void (*alarm)());
#endif
//- /gauge.cc
#include \"gauge.h\"
TideGauge::TideGauge(int depth) : depth_(depth) {}
int TideGauge::Read(int at) const { return depth_ + at; }
int TideGauge::Reset() { return depth_; }
int Gauge::Reset() { return Read(0); }
void Watch(Gauge* gauge, void (*alarm)()) {
  if (gauge->Read(1) > 2) alarm();
}
namespace {
struct DryGauge : public TideGauge {
  DryGauge() : TideGauge(0) {}
  int Read(int at) const override { return TideGauge::Read(at) - 1; }
};
}
int Survey() {
  Gauge* one = new TideGauge(3);
  TideGauge two = TideGauge(4);
  DryGauge three;
  Watch(one, nullptr);
  return one->Read(0) + two.Read(1) + three.Read(2) + two.Reset() + one->Reset();
}
",
    );
    check(
        &repo,
        &[
            ("gauge.cc", 2, 12, "gauge.cc:11:16 gauge.cc:16:20 gauge.cc:17:19 gauge.cc:2:12 gauge.h:9:12"),
            ("gauge.cc", 4, 16, "gauge.cc:20:59 gauge.cc:4:16 gauge.h:11:7"),
            ("gauge.cc", 6, 6, "gauge.cc:19:3 gauge.cc:6:6 gauge.h:14:13"),
            (
                "gauge.cc",
                12,
                7,
                "gauge.cc:12:55 gauge.cc:12:7 gauge.cc:20:15 gauge.cc:20:29 gauge.cc:20:45 gauge.cc:3:16 \
             gauge.cc:5:29 gauge.cc:7:14 gauge.h:10:7 gauge.h:5:15",
            ),
            ("gauge.h", 6, 7, "gauge.cc:20:74 gauge.cc:5:12 gauge.h:6:7"),
            (
                "gauge.h",
                8,
                8,
                "gauge.cc:10:26 gauge.cc:11:16 gauge.cc:12:44 gauge.cc:16:20 gauge.cc:17:19 gauge.cc:17:3 \
             gauge.cc:2:1 gauge.cc:2:12 gauge.cc:3:5 gauge.cc:4:5 gauge.h:8:8 gauge.h:9:12",
            ),
            ("gauge.h", 9, 12, "gauge.cc:11:16 gauge.cc:16:20 gauge.cc:17:19 gauge.cc:2:12 gauge.h:9:12"),
            ("gauge.h", 14, 13, "gauge.cc:19:3 gauge.cc:6:6 gauge.h:14:13"),
        ],
    );
}

#[test]
fn the_types_of_fields_elements_and_casts_lead_to_members() {
    let repo = Repo::new(
        "\
//- /table.h
struct Sink { void Add(int value); };
struct Pipe { void Add(int value); int size; };
enum Phase { kIdle, kOpen };
class Table { struct Row; Row* row_; void Fill(); };
class Log {
 public:
  enum Level { kLow, kHigh };
  Level level() const;
 private:
  struct Row;
  Row* const row_;
  Sink sinks_[2];
  void Write(void* raw);
};
//- /table.cc
#include \"table.h\"
struct Table::Row { Pipe out; };
void Table::Fill() { Row* r = row_; r->out.Add(1); }
Phase Start() { return kOpen; }
//- /log.cc
#include \"table.h\"
struct Log::Row { Sink out; };
void Log::Write(void* raw) {
  Row* r = row_;
  r->out.Add(2);
  sinks_[0].Add(3);
  static_cast<Pipe*>(raw)->Add(4);
  row_->out.Add(5);
  auto pipe = static_cast<Pipe*>(raw);
  pipe->Add(6);
}
Log::Level Log::level() const { return kHigh; }
Phase Next(Phase phase) { return phase == kIdle ? kOpen : kIdle; }
",
    );
    check(
        &repo,
        &[
            ("log.cc", 2, 24, "log.cc:2:24 log.cc:5:6 log.cc:8:9"),
            ("table.cc", 2, 26, "table.cc:2:26 table.cc:3:40"),
            ("table.h", 1, 20, "log.cc:5:10 log.cc:6:13 log.cc:8:13 table.h:1:20"),
            ("table.h", 2, 20, "log.cc:10:9 log.cc:7:28 table.cc:3:44 table.h:2:20"),
            ("table.h", 3, 14, "log.cc:13:43 log.cc:13:59 table.h:3:14"),
            ("table.h", 3, 21, "log.cc:13:51 table.cc:4:24 table.h:3:21"),
            ("table.h", 4, 32, "table.cc:3:31 table.h:4:32"),
            ("table.h", 7, 22, "log.cc:12:40 table.h:7:22"),
            ("table.h", 11, 14, "log.cc:4:12 log.cc:8:3 table.h:11:14"),
        ],
    );
}

#[test]
fn names_below_namespaces_aliases_and_elements_are_found() {
    let repo = Repo::new(
        "\
//- /slice.h
#include <deque>
#include <map>
#include <vector>
namespace store {
class Slice {
 public:
  Slice(const char* data);
  bool Starts(const char* with) const;
};
template <typename Key>
class List {
 public:
  class Iterator {
   public:
    explicit Iterator(const List* list);
    void Seek(const Key& target);
  };
};
class Iterator {
 public:
  virtual void Seek(const Slice& target) = 0;
};
class Version {
 public:
  void Ref();
 private:
  class Files;
  typedef List<int> Table;
  Table table_;
  Version* all_;
  std::vector<Version*>* const parts_;
  std::deque<Version*> queue_;
  void Walk();
};
Iterator* Open(const Slice& path);
}
//- /version.cc
#include \"slice.h\"
namespace store {
class Version::Files : public Iterator {
 public:
  Files(int count) : count_(count) {}
  ~Files() {}
  void Seek(const Slice& target) {}
 private:
  int count_;
};
void Version::Walk() {
  Table::Iterator at(&table_);
  at.Seek(1);
  all_[1].Ref();
  (*parts_)[0]->Ref();
  queue_.front()->Ref();
  new Files(2);
}
}
//- /main.cc
#include \"slice.h\"
struct Other { void Ref(); void Seek(int to); bool Starts(const char* with); };
int main(int argc, char** argv) {
  store::Open(argv[1])->Seek(\"a\");
  Other().Ref();
  return store::Slice(argv[0]).Starts(\"--\") ? 0 : 1;
}
",
    );
    check(
        &repo,
        &[
            ("main.cc", 2, 8, "main.cc:2:8 main.cc:5:3"),
            ("main.cc", 2, 21, "main.cc:2:21 main.cc:5:11"),
            ("main.cc", 2, 33, "main.cc:2:33"),
            ("main.cc", 2, 52, "main.cc:2:52"),
            ("main.cc", 3, 5, "main.cc:3:5"),
            ("slice.h", 5, 7, "main.cc:6:17 slice.h:21:27 slice.h:35:22 slice.h:5:7 slice.h:7:3 version.cc:7:19"),
            ("slice.h", 8, 8, "main.cc:6:32 slice.h:8:8"),
            ("slice.h", 11, 7, "slice.h:11:7 slice.h:15:29 slice.h:28:11"),
            ("slice.h", 13, 9, "slice.h:13:9 slice.h:15:14 version.cc:12:10"),
            ("slice.h", 15, 14, "slice.h:15:14"),
            ("slice.h", 16, 10, "slice.h:16:10 version.cc:13:6"),
            ("slice.h", 19, 7, "slice.h:19:7 slice.h:35:1 version.cc:3:31"),
            ("slice.h", 21, 16, "main.cc:4:25 slice.h:21:16 version.cc:7:8"),
            ("slice.h", 23, 7, "slice.h:23:7 slice.h:30:3 slice.h:31:15 slice.h:32:14 version.cc:11:6 version.cc:3:7"),
            ("slice.h", 25, 8, "slice.h:25:8 version.cc:14:11 version.cc:15:17 version.cc:16:19"),
            ("slice.h", 27, 9, "slice.h:27:9 version.cc:17:7 version.cc:3:16 version.cc:5:3 version.cc:6:4"),
            ("slice.h", 28, 21, "slice.h:28:21 slice.h:29:3 version.cc:12:3"),
            ("slice.h", 29, 9, "slice.h:29:9 version.cc:12:23"),
            ("slice.h", 30, 12, "slice.h:30:12 version.cc:14:3"),
            ("slice.h", 31, 32, "slice.h:31:32 version.cc:15:5"),
            ("slice.h", 32, 24, "slice.h:32:24 version.cc:16:3"),
            ("slice.h", 33, 8, "slice.h:33:8 version.cc:11:15"),
            ("slice.h", 35, 11, "main.cc:4:10 slice.h:35:11"),
            ("version.cc", 3, 16, "slice.h:27:9 version.cc:17:7 version.cc:3:16 version.cc:5:3 version.cc:6:4"),
            ("version.cc", 5, 3, "version.cc:17:7 version.cc:5:3"),
            ("version.cc", 7, 8, "main.cc:4:25 slice.h:21:16 version.cc:7:8"),
            ("version.cc", 9, 7, "version.cc:5:22 version.cc:9:7"),
            ("version.cc", 11, 15, "slice.h:33:8 version.cc:11:15"),
        ],
    );
}

#[test]
fn members_are_found_through_aliases_of_qualified_types() {
    let repo = Repo::new(
        "\
//- /shape.h
namespace ns {
struct Foo {
  int go();
};
template <class T>
struct Box {
  int open() const;
};
}
struct Other {
  int go();
  int open();
};
//- /use.cc
#include \"shape.h\"
using F = ns::Foo;
typedef ns::Foo G;
using B = const ns::Box<int>;
struct Has {
  using Inner = ns::Foo;
  Inner in;
};
template <class T>
using Boxes = ns::Box<T>;
int Use(F f, G* g, B& b, Has h, Boxes<int>* all) {
  Has::Inner one;
  Other().go();
  Other().open();
  return f.go() + g->go() + b.open() + h.in.go() + one.go() + all->open();
}
",
    );
    // By clangd 18.1.8.
    check(
        &repo,
        &[
            ("shape.h", 2, 8, "shape.h:2:8 use.cc:2:15 use.cc:3:13 use.cc:6:21"),
            ("shape.h", 3, 7, "shape.h:3:7 use.cc:15:12 use.cc:15:22 use.cc:15:45 use.cc:15:56"),
            ("shape.h", 6, 8, "shape.h:6:8 use.cc:10:19 use.cc:4:21"),
            ("shape.h", 7, 7, "shape.h:7:7 use.cc:15:31 use.cc:15:68"),
            ("shape.h", 10, 8, "shape.h:10:8 use.cc:13:3 use.cc:14:3"),
            ("shape.h", 11, 7, "shape.h:11:7 use.cc:13:11"),
            ("shape.h", 12, 7, "shape.h:12:7 use.cc:14:11"),
            ("use.cc", 2, 7, "use.cc:11:9 use.cc:2:7"),
            ("use.cc", 3, 17, "use.cc:11:14 use.cc:3:17"),
            ("use.cc", 4, 7, "use.cc:11:20 use.cc:4:7"),
            ("use.cc", 5, 8, "use.cc:11:26 use.cc:12:3 use.cc:5:8"),
            ("use.cc", 6, 9, "use.cc:12:8 use.cc:6:9 use.cc:7:3"),
            ("use.cc", 7, 9, "use.cc:15:42 use.cc:7:9"),
            ("use.cc", 10, 7, "use.cc:10:7 use.cc:11:33"),
            ("use.cc", 11, 5, "use.cc:11:5"),
        ],
    );
}
