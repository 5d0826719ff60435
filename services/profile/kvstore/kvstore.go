// Package kvstore keeps display names in a key-value bucket of NATS JetStream,
// beside the event log but outside of it.
//
// The key is the player id, in which '=' stands for each '.': a key may have no
// dot at either end, nor two in a row. The value is the name in UTF-8.
//
// Erasing leaves a marker without a name in the bucket. What NATS has removed
// from a bucket, no client can read any more; in the server's files the bytes go
// when it next compacts them, and out of backups when those are dropped.
package kvstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/scoundrel-game/scoundrel/services/profile"
)

// Bucket is the name of the bucket.
const Bucket = "scoundrel_profiles"

// timeout bounds each call, within the caller's deadline.
const timeout = 5 * time.Second

// readers is how many names are read at once in one call.
const readers = 16

// Codes of JetStream that the client library does not name.
const (
	codeAccountResources      jetstream.ErrorCode = 10002
	codeInsufficientResources jetstream.ErrorCode = 10023
	codeStorageResources      jetstream.ErrorCode = 10047
	codeStreamStoreFailed     jetstream.ErrorCode = 10077
)

// Store is a profile.Store in a bucket. Where the bucket has replicas, a read
// may be answered by one that lags behind for a moment.
type Store struct{ kv jetstream.KeyValue }

var _ profile.Store = (*Store)(nil)

// Open returns the store over a connection, which stays the caller's. It creates
// the bucket if there is none; one that is there stays as it is, since replicas
// and room are its operator's to choose, but is refused if it does not keep
// names. profile.ErrUnavailable while the server is away.
func Open(ctx context.Context, nc *nats.Conn) (*Store, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	s := &Store{}
	var status jetstream.KeyValueStatus
	err = call(ctx, "open the bucket", func(ctx context.Context) (err error) {
		s.kv, err = js.KeyValue(ctx, Bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			s.kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
				Bucket: Bucket, Description: "display names of players", History: 1, Storage: jetstream.FileStorage,
			})
		}
		if err != nil {
			return err
		}
		status, err = s.kv.Status(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if cfg := status.Config(); cfg.TTL != 0 || cfg.Storage != jetstream.FileStorage {
		return nil, fmt.Errorf("the bucket %s must keep names in files and for ever, not in %s for %s", Bucket, cfg.Storage, cfg.TTL)
	}
	return s, nil
}

// Get implements profile.Store.
func (s *Store) Get(ctx context.Context, playerID string) (name string, err error) {
	err = call(ctx, "read a name", func(ctx context.Context) error {
		entry, err := s.kv.Get(ctx, key(playerID))
		if err == nil {
			name = string(entry.Value())
		}
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", &profile.NotFoundError{PlayerID: playerID}
	}
	return name, err
}

// Names implements profile.Store.
func (s *Store) Names(ctx context.Context, playerIDs []string) (map[string]string, error) {
	var mu sync.Mutex
	names := map[string]string{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, id := range playerIDs {
		group.Go(func() error {
			name, err := s.Get(ctx, id)
			if errors.As(err, new(*profile.NotFoundError)) {
				return nil
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			names[id] = name
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return names, nil
}

// Set implements profile.Store.
func (s *Store) Set(ctx context.Context, playerID, name string) error {
	return call(ctx, "store a name", func(ctx context.Context) error {
		_, err := s.kv.PutString(ctx, key(playerID), name)
		return err
	})
}

// Delete implements profile.Store.
func (s *Store) Delete(ctx context.Context, playerID string) error {
	return call(ctx, "erase a name", func(ctx context.Context) error {
		// Not Delete, which would leave earlier names where the bucket's history
		// is longer than ours.
		return s.kv.Purge(ctx, key(playerID))
	})
}

// Ready implements profile.Store.
func (s *Store) Ready(ctx context.Context) error {
	return call(ctx, "look at the bucket", func(ctx context.Context) error {
		_, err := s.kv.Status(ctx)
		return err
	})
}

func key(playerID string) string { return strings.ReplaceAll(playerID, ".", "=") }

// call makes a call within timeout, and says of what kind its error is.
func call(ctx context.Context, what string, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := do(bounded)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrInvalidKey):
		return fmt.Errorf("%s: %w", what, err)
	case ctx.Err() != nil:
		// The caller's end, not the server's fault.
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case isFull(err):
		return fmt.Errorf("%w: %s: %w", profile.ErrFull, what, err)
	}
	return fmt.Errorf("%w: %s: %w", profile.ErrUnavailable, what, err)
}

// isFull tells whether err says that the server or the bucket has no room.
func isFull(err error) bool {
	failure, ok := errors.AsType[*jetstream.APIError](err)
	if !ok {
		return false
	}
	switch failure.ErrorCode {
	case codeAccountResources, codeInsufficientResources, codeStorageResources:
		return true
	case codeStreamStoreFailed:
		// One code for everything that the store may say; only this text means
		// that the limit of the bucket is reached.
		return failure.Description == "maximum bytes exceeded"
	}
	return false
}
