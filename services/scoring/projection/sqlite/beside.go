package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Beside is a store in a file beside another one's, whose place it is to take.
type Beside struct {
	*Store

	target string
}

// OpenBeside opens an empty store for the place of the database at path, which
// stays as it is. What an earlier one left is removed. The caller ends it with
// Replace or Discard. One process at a time may have one.
func OpenBeside(ctx context.Context, path string) (*Beside, error) {
	b := &Beside{target: path}
	name := path + ".rebuild"
	if err := remove(name); err != nil {
		return nil, err
	}
	var err error
	if b.Store, err = Open(ctx, name); err != nil {
		return nil, errors.Join(err, remove(name))
	}
	return b, nil
}

// Replace closes the store and puts it in the place of the other one, which must
// not be open anywhere. If the process or the machine dies, either the one or the
// other is there afterwards.
func (b *Beside) Replace(context.Context) error {
	// The last to close a database brings its log into it.
	if err := b.Close(); err != nil {
		return err
	}
	if err := sync(b.path); err != nil {
		return err
	}
	// A log that was left beside the file would be taken for the new one's. The old
	// one can do without: whoever closes a database in order leaves none, and one
	// that was killed is opened and closed here before, unless it is damaged.
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := ignoreMissing(os.Remove(b.target + suffix)); err != nil {
			return err
		}
		if _, err := os.Stat(b.path + suffix); err == nil {
			return fmt.Errorf("%s has not been brought into its database", b.path+suffix)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(b.path, b.target); err != nil {
		return err
	}
	return sync(filepath.Dir(b.target))
}

// Discard closes the store and removes it; nothing if Replace has succeeded.
func (b *Beside) Discard(context.Context) error {
	return errors.Join(b.Close(), remove(b.path))
}

// remove removes a database that is not open, if it is there.
func remove(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		errs = append(errs, ignoreMissing(os.Remove(path+suffix)))
	}
	return errors.Join(errs...)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sync makes sure that a file or a folder is on the disk.
func sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
