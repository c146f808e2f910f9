//! CCIDs on a real network: with a control chosen by the sender, and a CCID that the peer does not
//! know.

use std::sync::Arc;

use bytes::Bytes;
use skywave_congestion::CubicParameters;
use skywave_net::{ConnectError, ConnectionError};
use skywave_transport::dccp::{Ccid, Ccids, Config, SendersChoice};

use crate::{PORT, endpoint, pair, peer, quick, soon};

const DATAGRAMS: usize = 2_000;

/// CUBIC over CCID 251: its window grows, and nothing is lost.
#[tokio::test]
async fn any_control_carries_data() {
    let cubic = Arc::new(CubicParameters::default());
    let config = Config {
        receive_queue: DATAGRAMS,
        ..quick()
    };
    let pair = pair(config.with_ccid(SendersChoice::new(cubic))).await;
    assert_eq!(pair.client.ccids(), [Ccid::SENDERS_CHOICE; 2]);
    let cwnd = || pair.client.stats().congestion.window().unwrap().cwnd;
    let initial = cwnd();
    let receive = async {
        for _ in 0..DATAGRAMS {
            soon(pair.server.recv()).await.unwrap().unwrap();
        }
    };
    let send = async {
        for _ in 0..DATAGRAMS {
            pair.client.send(Bytes::from(vec![0; 1000])).await.unwrap();
        }
    };
    tokio::join!(send, receive);
    assert!(cwnd() > initial);
    assert_eq!(pair.client.stats().congestion.window().unwrap().lost, 0);
}

/// An endpoint without CCID 251 does not accept it: the client, which accepts nothing else, is
/// refused.
#[tokio::test]
async fn a_ccid_that_the_peer_does_not_know_is_refused() {
    let mut known = Ccids::empty();
    known.enter_shared(Ccids::default().get_shared(Ccid::TCP_LIKE).unwrap());
    let server = Config {
        ccids: known,
        sender_ccids: vec![Ccid::TCP_LIKE],
        receiver_ccids: vec![Ccid::TCP_LIKE],
        ..quick()
    };
    let [ours, theirs] = [endpoint(), endpoint()];
    let _listener = theirs.listen(5001, server).unwrap();
    let wants = quick().with_ccid(SendersChoice::default());
    let error = soon(ours.connect(peer(&theirs), wants)).await.unwrap_err();
    let is_reset = matches!(
        error,
        ConnectError::Connection(ConnectionError::Reset { .. })
    );
    assert!(is_reset, "{error:?}");
}

/// Each end accepts every CCID. The listener's preference wins, or the client's if the listener has
/// none; data passes in both directions.
#[tokio::test]
async fn ends_that_prefer_different_ccids_agree() {
    let prefers = |preferred: Option<Ccid>| {
        let mut config = quick();
        for list in [&mut config.sender_ccids, &mut config.receiver_ccids] {
            list.sort_by_key(|&ccid| Some(ccid) != preferred);
        }
        config.follow_client_ccids = preferred.is_none();
        config
    };
    let all = [Ccid::TCP_LIKE, Ccid::TFRC, Ccid::TFRC_SP];
    let wishes = || [None].into_iter().chain(all.map(Some));
    for (client, server) in wishes().flat_map(|client| wishes().map(move |server| (client, server)))
    {
        let [ours, theirs] = [endpoint(), endpoint()];
        let listener = theirs.listen(PORT, prefers(server)).unwrap();
        let connect = ours.connect(peer(&theirs), prefers(client));
        let (ours, theirs) = soon(async { tokio::join!(connect, listener.accept()) }).await;
        let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
        for (from, to) in [(&ours, &theirs), (&theirs, &ours)] {
            from.send("hello").await.unwrap();
            assert_eq!(soon(to.recv()).await.unwrap().unwrap().data, "hello");
        }
        let expected = server.or(client).unwrap_or(Ccid::TCP_LIKE);
        assert_eq!(ours.ccids(), [expected; 2], "{client:?} {server:?}");
        assert_eq!(theirs.ccids(), [expected; 2], "{client:?} {server:?}");
    }
}
