//! Definitions of SQL that the grammar loses or misreads in valid files, each with the answer of a database's own parser.

use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;

use crate::lost_scripts;

/// The line, kind, container and name of each symbol.
fn symbols(text: &str) -> Vec<String> {
    lost_scripts::symbols("a.sql", text)
}

/// libpg-query 18.1.5 for the first table; MySQL 8.4, CREATE TABLE, for the second; SQL Server 2022, CREATE TABLE, for the third.
#[test]
fn columns_may_be_called_as_indexes_begin() {
    let text = "CREATE TABLE settings (\n    key text NOT NULL DEFAULT 'a',\n    index integer PRIMARY KEY CHECK (index > 0),\n\
                \x20   period tsrange,\n    fulltext varchar(3),\n    EXCLUDE USING gist (period WITH &&)\n);\n\
                CREATE TABLE sails (\n  `key` int,\n  KEY (id),\n  KEY by_area (area),\n  INDEX by_name USING BTREE (name),\n\
                \x20 FULLTEXT KEY ft (name),\n  SPATIAL INDEX sp (shape)\n);\n\
                CREATE TABLE tides (\n  Id INT NOT NULL,\n  PERIOD FOR SYSTEM_TIME (ValidFrom, ValidTo),\n\
                \x20 INDEX ix NONCLUSTERED (Id)\n);\n";
    let wanted = [
        "1 table settings",
        "2 field settings: key",
        "3 field settings: index",
        "4 field settings: period",
        "5 field settings: fulltext",
        "8 table sails",
        "9 field sails: key",
        "16 table tides",
        "17 field tides: Id",
    ];
    assert_eq!(symbols(text), wanted);
}

/// MySQL 8.4, ALTER TABLE: two columns are added, and what is not a column.
#[test]
fn an_index_that_is_added_is_not_a_column() {
    let text = "ALTER TABLE sails ADD INDEX ix (area);\nALTER TABLE sails ADD KEY k (area);\nALTER TABLE sails ADD FULLTEXT ft (name);\n\
                ALTER TABLE sails ADD CHECK (area > 0);\nALTER TABLE sails ADD PARTITION (PARTITION p VALUES LESS THAN (1));\n\
                ALTER TABLE `sails` ADD `area` int NOT NULL AFTER `x`, ADD KEY `k` (`area`);\nALTER TABLE sails ADD COLUMN period int;\n";
    assert_eq!(symbols(text), ["6 field sails: area", "7 field sails: period"]);
}

/// libpg-query 18.1.5.
#[test]
fn a_table_with_a_quoted_name_does_not_contain_the_next_statement() {
    let text = "CREATE TABLE \"Order Lines\" (\"line no\" int, index int);\nCREATE INDEX by_line ON sails (area);\n\
                CREATE TABLE s.\"My Table\" (id int);\n";
    let wanted = [
        "1 table Order Lines",
        "1 field Order Lines: line no",
        "1 field Order Lines: index",
        "2 index by_line",
        "3 table s: My Table",
        "3 field s.My Table: id",
    ];
    assert_eq!(symbols(text), wanted);
}

/// libpg-query 18.1.5: three functions. The grammar reads the last into the one before.
#[test]
fn a_function_of_sql_does_not_contain_the_next() {
    let text = r"CREATE FUNCTION balance(id integer) RETURNS numeric
    AS $$
DECLARE
    fees DECIMAL(5,2);
BEGIN
    SELECT COALESCE(SUM(film.rate),0) INTO fees FROM film;
END $$
    LANGUAGE plpgsql;

CREATE FUNCTION last_day(timestamp without time zone) RETURNS date
    AS $_$
  SELECT CASE
    WHEN EXTRACT(MONTH FROM $1) = 12 THEN
      (((EXTRACT(YEAR FROM $1) + 1) operator(pg_catalog.||) '-01-01')::date - INTERVAL '1 day')::date
    ELSE
      ((EXTRACT(YEAR FROM $1) operator(pg_catalog.||) '-' operator(pg_catalog.||) (EXTRACT(MONTH FROM $1) + 1) operator(pg_catalog.||) '-01')::date - INTERVAL '1 day')::date
    END
$_$
    LANGUAGE sql IMMUTABLE STRICT;

CREATE FUNCTION last_updated() RETURNS trigger
    AS $$
BEGIN
    NEW.last_update = CURRENT_TIMESTAMP;
    RETURN NEW;
END $$
    LANGUAGE plpgsql;
";
    assert_eq!(symbols(text), ["1 function balance", "10 function last_day", "21 function last_updated"]);
}

/// MySQL 8.4, `mysql` client commands: `delimiter` sets what ends a statement.
#[test]
fn a_statement_of_mysql_ends_at_its_delimiter() {
    let text = "DELIMITER $$\nCREATE PROCEDURE moor(IN a INT)\nBEGIN\n  IF a THEN SELECT 1; END IF;\nEND$$\n\n\
                CREATE FUNCTION depth() RETURNS INT DETERMINISTIC\nBEGIN\n  RETURN 1;\nEND$$\n\
                delimiter //\nCREATE TRIGGER tide BEFORE INSERT ON sails FOR EACH ROW SET NEW.id = 1 //\n\
                CREATE TRIGGER ebb BEFORE DELETE ON sails FOR EACH ROW\nBEGIN\n  SET @a = 1;\nEND //\nDELIMITER ;\n\
                CREATE TABLE sails (id int);\n";
    let wanted = [
        "2 function moor",
        "7 function depth",
        "12 trigger tide",
        "13 trigger ebb",
        "18 table sails",
        "18 field sails: id",
    ];
    assert_eq!(symbols(text), wanted);
    // libpg-query 18.1.5: an option of `COPY` does not end statements.
    let copied =
        "COPY sails FROM stdin WITH CSV\nDELIMITER ',';\nCREATE TABLE a (index int);\nCREATE TABLE b (id int);\n";
    let wanted = ["3 table a", "3 field a: index", "4 table b", "4 field b: id"];
    assert_eq!(symbols(copied), wanted);
}

/// MySQL 8.4, CREATE EVENT. SQL Server 2022, CREATE SYNONYM. PostgreSQL's event triggers are triggers.
#[test]
fn events_and_synonyms_are_defined() {
    let text = "CREATE EVENT sweep ON SCHEDULE EVERY 1 HOUR DO DELETE FROM sails;\n\
                CREATE DEFINER=`root`@`localhost` EVENT IF NOT EXISTS `night sweep` ON SCHEDULE EVERY 1 DAY DO DELETE FROM t;\n\
                CREATE SYNONYM dbo.Sails FOR other.dbo.Sails;\n\
                CREATE EVENT TRIGGER audit ON ddl_command_end EXECUTE FUNCTION log();\n";
    assert_eq!(symbols(text), ["1 event sweep", "2 event night sweep", "3 view dbo: Sails", "4 trigger audit"]);
}

/// SQL Server 2022, Database Identifiers; CREATE TYPE, user-defined table types.
#[test]
fn names_in_brackets_may_have_spaces() {
    let text = "CREATE TABLE [dbo].[Order Details] (\n    [Order ID] [int] IDENTITY(1,1) NOT NULL,\n\
                \x20   [Unit - Price Of All] [money] NULL,\n    Qty INT,\n\
                \x20   CONSTRAINT [PK_Order_Details] PRIMARY KEY CLUSTERED ([Order ID] ASC)\n) ON [PRIMARY]\nGO\n\
                CREATE TYPE dbo.LineList AS TABLE (Id INT NOT NULL, [Full Name] NVARCHAR(20));\nGO\n\
                CREATE PROCEDURE [dbo].[Do It] @a INT AS BEGIN SELECT 1 END\nGO\nCREATE INDEX [By Line] ON [Order Details] (Qty);\nGO\n\
                CREATE TABLE a (id int)\nCREATE TABLE b (id int)\n";
    let wanted = [
        "1 table dbo: Order Details",
        "2 field dbo.Order Details: Order ID",
        "3 field dbo.Order Details: Unit - Price Of All",
        "4 field dbo.Order Details: Qty",
        "8 type dbo: LineList",
        "8 field dbo.LineList: Id",
        "8 field dbo.LineList: Full Name",
        "10 function dbo: Do It",
        "12 index By Line",
        "14 table a",
        "14 field a: id",
        "15 table b",
        "15 field b: id",
    ];
    assert_eq!(symbols(text), wanted);
}

/// SQLite 3.40.1, `sqlite_schema` and `pragma_table_info` after running the statements.
#[test]
fn modules_and_qualified_indexes_of_sqlite_are_read() {
    let text = "CREATE TABLE sails (x, 'f' INT, area DEFAULT 5);\nCREATE VIRTUAL TABLE docs USING fts5(title, body UNINDEXED, tokenize = 'porter');\n\
                CREATE VIRTUAL TABLE boxes USING rtree(id, min_x, max_x);\nCREATE INDEX main.by_x ON sails(x);\n\
                CREATE VIEW both(a, b) AS SELECT 1, 2;\n";
    let wanted = [
        "1 table sails",
        "1 field sails: x",
        "1 field sails: f",
        "1 field sails: area",
        "2 table docs",
        "2 field docs: title",
        "2 field docs: body",
        "3 table boxes",
        "3 field boxes: id",
        "3 field boxes: min_x",
        "3 field boxes: max_x",
        "4 index main: by_x",
        "5 view both",
        "5 field both: a",
        "5 field both: b",
    ];
    assert_eq!(symbols(text), wanted);
}

/// libpg-query 18.1.5.
#[test]
fn members_of_types_and_columns_of_views_are_defined() {
    let text = "CREATE TYPE mood AS ENUM (\n    'sad', -- the first\n    'very happy'\n);\nCREATE TYPE pair AS (a int, name text COLLATE \"C\");\n\
                CREATE VIEW v (one, \"two x\") AS SELECT 1 AS x, 2;\nCREATE MATERIALIZED VIEW m (alpha, beta) AS (SELECT 1, 2);\n\
                CREATE TYPE base (INPUT = f, OUTPUT = g, PASSEDBYVALUE);\nCREATE TYPE span AS RANGE (subtype = float8);\n\
                CREATE VIEW w WITH (security_barrier) AS (SELECT a, b FROM t);\nCREATE TABLE copied AS (SELECT a, b FROM t);\n";
    let wanted = [
        "1 type mood",
        "2 variant mood: sad",
        "3 variant mood: very happy",
        "5 type pair",
        "5 field pair: a",
        "5 field pair: name",
        "6 view v",
        "6 field v: one",
        "6 field v: two x",
        "7 view m",
        "7 field m: alpha",
        "7 field m: beta",
        "8 type base",
        "9 type span",
        "10 view w",
        "11 table copied",
    ];
    assert_eq!(symbols(text), wanted);
}

/// libpg-query 18.1.5 for the first three; SQL Server 2022, ALTER TABLE, for the others.
#[test]
fn a_column_that_is_added_belongs_to_its_table() {
    let text = "ALTER TABLE users ADD COLUMN age int;\nALTER TABLE ONLY public.users ADD COLUMN IF NOT EXISTS a int, ADD COLUMN b text;\n\
                ALTER TABLE \"public\".\"users\" ADD c int;\nALTER TABLE dbo.x ADD d int NULL, e varchar(10)\nGO\n\
                ALTER TABLE [dbo].[y] ADD [f] int NULL\nGO\nALTER TABLE dbo.y ADD CONSTRAINT pk PRIMARY KEY (f)\nGO\n";
    let wanted = [
        "1 field users: age",
        "2 field public.users: a",
        "2 field public.users: b",
        "3 field public.users: c",
        "4 field dbo.x: d",
        "4 field dbo.x: e",
        "6 field dbo.y: f",
    ];
    assert_eq!(symbols(text), wanted);
}

/// libpg-query 18.1.5; MySQL 8.4, Schema Object Names, for backquotes.
#[test]
fn a_container_has_no_quotes() {
    let text = "CREATE TABLE \"public\".\"users\" (\"id\" int);\nCREATE TABLE `db1`.`t1` (`id` int);\nCREATE VIEW \"s\".\"v\" AS SELECT 1;\n";
    let wanted =
        ["1 table public: users", "1 field public.users: id", "2 table db1: t1", "2 field db1.t1: id", "3 view s: v"];
    assert_eq!(symbols(text), wanted);
}

/// SQLite 3.40.1, `sqlite_schema` and `pragma_table_info` after running the statements.
#[test]
fn a_table_of_sqlite_may_have_its_name_in_single_quotes() {
    let text = "CREATE TABLE IF NOT EXISTS 'foo' (id INTEGER);\nCREATE TABLE 'bar baz' (id INTEGER, 'x' text);\n\
                CREATE INDEX 'by id' ON foo(id);\n";
    let wanted = [
        "1 table foo",
        "1 field foo: id",
        "2 table bar baz",
        "2 field bar baz: id",
        "2 field bar baz: x",
        "3 index by id",
    ];
    assert_eq!(symbols(text), wanted);
}

/// SQL Server 2022, CREATE TABLE, temporary tables: the sign is a part of the name.
#[test]
fn temporary_tables_of_sql_server_are_defined() {
    let text = "CREATE PROCEDURE dbo.p AS\nBEGIN\n  CREATE TABLE #tmp (x int, y int);\n  CREATE TABLE ##all (x int);\n  SELECT 1;\nEND\nGO\n\
                CREATE TABLE [#top] (z int)\nGO\n";
    let wanted = [
        "1 function dbo: p",
        "3 table dbo.p: #tmp",
        "3 field dbo.p.#tmp: x",
        "3 field dbo.p.#tmp: y",
        "4 table dbo.p: ##all",
        "4 field dbo.p.##all: x",
        "8 table #top",
        "8 field #top: z",
    ];
    assert_eq!(symbols(text), wanted);
}

/// MySQL 8.4, Comments: the server executes `/*!50001 … */`. Other comments define nothing.
#[test]
fn versioned_comments_of_mysql_are_statements() {
    let text = "/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */\n\
                /*!50001 VIEW `v1` AS select 1 AS `a` */;\n/*!50001 DROP VIEW IF EXISTS `v2`*/;\nDELIMITER ;;\n\
                /*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `ins` AFTER INSERT ON `film` FOR EACH ROW BEGIN\n\
                \x20 INSERT INTO t VALUES (1);\nEND */;;\n/*!50106 CREATE*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT `night` ON SCHEDULE EVERY 1 DAY DO DELETE FROM t */ ;;\n\
                DELIMITER ;\nCREATE ALGORITHM=MERGE DEFINER=`a`@`%` SQL SECURITY INVOKER VIEW `v3` AS select 1;\n\
                /*\nCREATE TABLE old (id int);\n*/\nCREATE TABLE t (id int) /*!50100 PARTITION BY RANGE (id) */;\n";
    let wanted = ["3 view v1", "6 trigger ins", "9 event night", "11 view v3", "15 table t", "15 field t: id"];
    assert_eq!(symbols(text), wanted);
}

/// MySQL 8.4, Defining Stored Programs: the statements of a body end with a semicolon.
#[test]
fn a_table_in_a_procedure_ends_with_its_statement() {
    let text = "DELIMITER //\nCREATE PROCEDURE p()\nBEGIN\n  CREATE TEMPORARY TABLE tt (a int);\n  SELECT 1;\nEND//\nDELIMITER ;\n";
    let extracted = extract::extract(&RepoPath::new("a.sql").unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let lines: Vec<_> = extracted.symbols.iter().map(|one| (one.name.as_str(), one.start_line, one.end_line)).collect();
    assert_eq!(lines, [("p", 2, 6), ("tt", 4, 4), ("a", 4, 4)]);
}
