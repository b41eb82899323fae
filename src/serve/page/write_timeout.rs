//! A connection with a timeout for writes: a client that never reads its answers would occupy its slot forever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

pub struct WriteTimeout {
    stream: TcpStream,
    timeout: Duration,
    /// Runs while a write is pending.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    pub const fn new(stream: TcpStream, timeout: Duration) -> Self {
        Self { stream, timeout, waiting: None }
    }

    fn bounded<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.timeout)));
        waiting.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, into)
    }
}

impl AsyncWrite for WriteTimeout {
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

    async fn pair(timeout: Duration) -> (WriteTimeout, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (WriteTimeout::new(listener.accept().await.unwrap().0, timeout), other)
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_times_out() {
        let (mut stream, _silent) = pair(Duration::from_millis(200)).await;
        let block = vec![0; 1 << 20];
        // More than the system buffers.
        for _ in 0..256 {
            if let Err(error) = stream.write_all(&block).await {
                assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                return;
            }
        }
        panic!("everything was written although the client did not read");
    }

    #[tokio::test]
    async fn a_client_that_reads_slowly_receives_everything() {
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
