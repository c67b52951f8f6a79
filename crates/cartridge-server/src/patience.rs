//! Connections that are given up when the other side takes nothing.
//!
//! A stream has no end that a stalled reader could miss, and what was written for it waits in our
//! memory. So a connection into which nothing could be written for a while is broken off; its
//! reader can come back with the last number that it got.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::connections::Place;

/// How long a reader may take nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection that fails when nothing could be written for some time.
#[derive(Debug)]
pub struct Patient<T> {
    connection: T,
    patience: Duration,
    /// What the connection holds for as long as it is open.
    _held: Option<Arc<Place>>,
    /// When it is given up; nothing while writing gets on.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    /// A connection that holds a place until it is closed.
    pub(crate) fn new(connection: T, place: Arc<Place>) -> Self {
        Self { connection, patience: PATIENCE, _held: Some(place), deadline: None }
    }

    /// Passes on how writing went, and fails when it has been waited for too long.
    fn judge<R>(
        &mut self,
        written: Poll<io::Result<R>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader takes nothing")))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.judge(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write_vectored(context, slices);
        self.judge(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    fn patient<T>(connection: T, patience: Duration) -> Patient<T> {
        Patient { connection, patience, _held: None, deadline: None }
    }

    #[tokio::test]
    async fn a_reader_that_takes_nothing_is_given_up() {
        let (ours, _theirs) = duplex(16);
        let mut ours = patient(ours, Duration::from_millis(20));
        ours.write_all(&[0; 16]).await.unwrap();
        let error = ours.write_all(&[0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_reader_that_is_slow_is_not() {
        let (ours, mut theirs) = duplex(16);
        let mut ours = patient(ours, Duration::from_secs(60));
        let writer = tokio::spawn(async move { ours.write_all(&[7; 4096]).await });
        let mut read = [0; 4096];
        theirs.read_exact(&mut read).await.unwrap();
        writer.await.unwrap().unwrap();
        assert_eq!(read, [7; 4096]);
    }
}
