//! A transaction on an organisation's server, through which all statements are sent.
//!
//! Owns that nothing stays on the session after it: a pooler such as `PgBouncer` may give the next transaction another session, and this
//! one to another client. Settings are those of the transaction, and statements are prepared without a name, in the message that
//! executes them. Does not own deadlines and cancellation (`connection`).

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// How a transaction begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolation {
    /// Each statement sees what is committed before it.
    EachStatement,
    /// All statements see one moment, and none writes.
    OneMoment,
}

/// Settings of a transaction. The server stops a statement after 300 s, even if this process is gone. The syntax of literals may be
/// set otherwise for a role or a database.
const SETTINGS: &str = "SET LOCAL statement_timeout = '300s'; SET LOCAL lock_timeout = '60s';
SET LOCAL client_min_messages = 'warning'; SET LOCAL standard_conforming_strings = on";

impl Isolation {
    const fn begin(self) -> &'static str {
        match self {
            Self::EachStatement => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Self::OneMoment => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }
}

/// A value that is bound to a statement, with its type on the server.
pub(super) trait Value: ToSql + Sync {
    fn kind(&self) -> Type;
}

macro_rules! values {
    ($($rust:ty => $server:ident),* $(,)?) => {
        $(impl Value for $rust {
            fn kind(&self) -> Type {
                Type::$server
            }
        })*
    };
}

values! {
    &str => TEXT,
    String => TEXT,
    Option<&str> => TEXT,
    Vec<&str> => TEXT_ARRAY,
    Vec<String> => TEXT_ARRAY,
    bool => BOOL,
    i32 => INT4,
    i64 => INT8,
    f64 => FLOAT8,
    Vec<i32> => INT4_ARRAY,
    Vec<u8> => BYTEA,
    Vec<&[u8]> => BYTEA_ARRAY,
    Vec<Vec<u8>> => BYTEA_ARRAY,
}

/// Values in the order of their numbers.
pub(super) type Values<'v> = &'v [&'v dyn Value];

/// A transaction that has begun.
pub(super) struct Transaction<'c>(&'c Client);

impl<'c> Transaction<'c> {
    /// Does work in a transaction, and commits it unless the work fails.
    pub async fn within<T>(
        client: &'c Client,
        isolation: Isolation,
        work: impl AsyncFnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let begin = format!("{}; {SETTINGS}", isolation.begin());
        let transaction = Self(client);
        // The first statement is sent behind the beginning, without waiting for the answer to that.
        let (begun, done) = tokio::join!(client.batch_execute(&begin), work(&transaction));
        let done = begun.and(done);
        match &done {
            Ok(_) => client.batch_execute("COMMIT").await?,
            // The first error is the one that explains the failure.
            Err(_) => drop(client.batch_execute("ROLLBACK").await),
        }
        done
    }

    pub async fn query(&self, statement: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        self.0.query_typed(statement, &typed(values)).await
    }

    /// The only row of an answer.
    pub async fn query_one(&self, statement: &str, values: Values<'_>) -> Result<Row, Error> {
        self.0.query_typed_one(statement, &typed(values)).await
    }

    /// The only row of an answer, if it has one.
    pub async fn query_opt(&self, statement: &str, values: Values<'_>) -> Result<Option<Row>, Error> {
        self.0.query_typed_opt(statement, &typed(values)).await
    }

    pub async fn execute(&self, statement: &str, values: Values<'_>) -> Result<u64, Error> {
        self.0.execute_typed(statement, &typed(values)).await
    }

    /// Runs statements without values.
    pub async fn batch_execute(&self, statements: &str) -> Result<(), Error> {
        self.0.batch_execute(statements).await
    }
}

fn typed<'v>(values: Values<'v>) -> Vec<(&'v (dyn ToSql + Sync), Type)> {
    values.iter().map(|value| (*value as &(dyn ToSql + Sync), value.kind())).collect()
}
