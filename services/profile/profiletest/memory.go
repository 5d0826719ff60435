// Package profiletest is what tests of profiles share: a store in memory, and
// the suite that every store passes, so that tests on this one may trust it to
// behave like the others.
package profiletest

import (
	"context"
	"sync"

	"github.com/scoundrel-game/scoundrel/services/profile"
)

// Memory is a profile.Store in memory. Its zero value is empty and ready.
type Memory struct {
	mu    sync.Mutex
	names map[string]string
}

var _ profile.Store = (*Memory)(nil)

// Get implements profile.Store.
func (m *Memory) Get(ctx context.Context, playerID string) (string, error) {
	names, err := m.Names(ctx, []string{playerID})
	if err != nil {
		return "", err
	}
	name, ok := names[playerID]
	if !ok {
		return "", &profile.NotFoundError{PlayerID: playerID}
	}
	return name, nil
}

// Names implements profile.Store.
func (m *Memory) Names(ctx context.Context, playerIDs []string) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	names := map[string]string{}
	for _, id := range playerIDs {
		if name, ok := m.names[id]; ok {
			names[id] = name
		}
	}
	return names, nil
}

// Set implements profile.Store.
func (m *Memory) Set(ctx context.Context, playerID, name string) error {
	return m.change(ctx, func(names map[string]string) { names[playerID] = name })
}

// Delete implements profile.Store.
func (m *Memory) Delete(ctx context.Context, playerID string) error {
	return m.change(ctx, func(names map[string]string) { delete(names, playerID) })
}

func (m *Memory) change(ctx context.Context, do func(map[string]string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names == nil {
		m.names = map[string]string{}
	}
	do(m.names)
	return nil
}

// Ready implements profile.Store.
func (m *Memory) Ready(ctx context.Context) error { return ctx.Err() }
