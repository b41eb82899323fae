//! A connection whose other end must take what it is sent: one that asks and never reads would keep its place for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

pub struct Patience {
    stream: TcpStream,
    /// For how long nothing may be taken.
    longest: Duration,
    /// Runs while nothing is.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub const fn new(stream: TcpStream, longest: Duration) -> Self {
        Self { stream, longest, waiting: None }
    }

    fn bounded<T>(&mut self, taken: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if taken.is_ready() {
            self.waiting = None;
            return taken;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.longest)));
        waiting.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patience {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, into)
    }
}

impl AsyncWrite for Patience {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let taken = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.bounded(taken, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let taken = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.bounded(taken, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let taken = Pin::new(&mut this.stream).poll_flush(context);
        this.bounded(taken, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    async fn pair(longest: Duration) -> (Patience, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Patience::new(listener.accept().await.unwrap().0, longest), other)
    }

    #[tokio::test]
    async fn one_who_takes_nothing_is_given_up() {
        let (mut stream, _silent) = pair(Duration::from_millis(200)).await;
        let block = vec![0; 1 << 20];
        // More than the system keeps for one who does not read.
        for _ in 0..256 {
            if let Err(error) = stream.write_all(&block).await {
                assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                return;
            }
        }
        panic!("all of it was taken by nobody");
    }

    #[tokio::test]
    async fn one_who_reads_slowly_gets_all() {
        let (mut stream, mut other) = pair(Duration::from_secs(30)).await;
        let reading = std::thread::spawn(move || {
            let (mut block, mut whole) = (vec![0; 1 << 20], 0);
            loop {
                std::thread::sleep(Duration::from_millis(5));
                match other.read(&mut block).unwrap() {
                    0 => return whole,
                    some => whole += some,
                }
            }
        });
        stream.write_all(&vec![0; 16 << 20]).await.unwrap();
        stream.shutdown().await.unwrap();
        drop(stream);
        assert_eq!(reading.join().unwrap(), 16 << 20);
    }
}
