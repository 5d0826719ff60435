// Package record gives the events of the log their meaning: it is the one
// place that knows both the engine and the stored protobuf messages, and it
// seals what no reader of the log may see.
package record

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/chacha20poly1305"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Errors of keysets and sealed fields.
var (
	// ErrKeyset: a keyset file is malformed.
	ErrKeyset = errors.New("malformed keyset")
	// ErrKeyUnknown: a field was sealed with a key that the keyset lacks.
	ErrKeyUnknown = errors.New("sealed with a key that is not in the keyset")
	// ErrSealBroken: a sealed field does not open: another key's bytes under
	// the same id, changed bytes, or a field moved from its place.
	ErrSealBroken = errors.New("sealed field does not open")
)

// Key is one sealing key.
type Key struct {
	// ID is the key's name in sealed fields.
	ID string `json:"id"`
	// Secret is 32 bytes, base64 in the file.
	Secret []byte `json:"secret"`
}

// Keyset holds the keys that open sealed fields. The first key seals; the
// others only open, so that a key can be rotated by putting a new one in front.
// A Keyset is safe for concurrent use.
type Keyset struct{ keys []Key }

// NewKeyset returns a keyset of one fresh random key.
func NewKeyset() *Keyset {
	k := &Keyset{}
	k.Rotate()
	return k
}

// Rotate puts a fresh random key in front. Not for use while the keyset seals.
func (k *Keyset) Rotate() {
	id, secret := make([]byte, 4), make([]byte, chacha20poly1305.KeySize)
	rand.Read(id)
	rand.Read(secret)
	k.keys = append([]Key{{hex.EncodeToString(id), secret}}, k.keys...)
}

// Derive returns a key of 32 bytes for another purpose, which tells nothing of the
// keyset's own. It comes from the oldest key by HKDF-SHA256, so that it stays the
// same when a new key is put in front.
func (k *Keyset) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.keys[len(k.keys)-1].Secret, nil, purpose, sha256.Size)
}

// LoadKeyset reads a keyset file. Its error wraps fs.ErrNotExist where there is
// none and ErrKeyset where it makes no sense.
func LoadKeyset(path string) (*Keyset, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the keyset: %w", err)
	}
	var file struct{ Keys []Key }
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrKeyset, path, err)
	}
	if len(file.Keys) == 0 {
		return nil, fmt.Errorf("%w: %s holds no key", ErrKeyset, path)
	}
	seen := map[string]bool{}
	for _, key := range file.Keys {
		if key.ID == "" || seen[key.ID] || len(key.Secret) != chacha20poly1305.KeySize {
			return nil, fmt.Errorf("%w: %s: key %q is unnamed, named twice or not 32 bytes", ErrKeyset, path, key.ID)
		}
		seen[key.ID] = true
	}
	return &Keyset{file.Keys}, nil
}

// Save writes the keyset to a new file that only its owner may read. It never
// replaces a file: losing a keyset loses every running game.
func (k *Keyset) Save(path string) (err error) {
	data, err := json.MarshalIndent(map[string]any{"keys": k.keys}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the keyset: %w", err)
	}
	// Written aside and linked into place, so that a crash leaves no half a
	// keyset under the name.
	f, err := os.CreateTemp(filepath.Dir(path), ".keyset-*")
	if err != nil {
		return fmt.Errorf("write the keyset: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, werr := f.Write(data)
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the keyset: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists: %w", path, err)
		}
		return fmt.Errorf("write the keyset: %w", err)
	}
	return nil
}

// place is where a sealed field stands. It is authenticated with it, so that a
// sealed field moved to another game, version or field does not open.
type place struct {
	game    string
	version uint64
	field   string
}

func (p place) associatedData(keyID string) []byte {
	var b []byte
	for _, s := range []string{p.game, string(binary.BigEndian.AppendUint64(nil, p.version)), p.field, keyID} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}

func (k *Keyset) seal(p place, plaintext []byte) (*eventv1.Sealed, error) {
	key := k.keys[0]
	aead, err := chacha20poly1305.NewX(key.Secret)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", p.field, err)
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce)
	return &eventv1.Sealed{
		KeyId:      key.ID,
		Nonce:      nonce,
		Ciphertext: aead.Seal(nil, nonce, plaintext, p.associatedData(key.ID)),
	}, nil
}

func (k *Keyset) open(p place, s *eventv1.Sealed) ([]byte, error) {
	for _, key := range k.keys {
		if key.ID != s.GetKeyId() {
			continue
		}
		aead, err := chacha20poly1305.NewX(key.Secret)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", p.field, err)
		}
		if len(s.GetNonce()) != aead.NonceSize() {
			return nil, fmt.Errorf("%w: %s of %s version %d: bad nonce", ErrSealBroken, p.field, p.game, p.version)
		}
		plaintext, err := aead.Open(nil, s.GetNonce(), s.GetCiphertext(), p.associatedData(key.ID))
		if err != nil {
			return nil, fmt.Errorf("%w: %s of %s version %d: %w", ErrSealBroken, p.field, p.game, p.version, err)
		}
		return plaintext, nil
	}
	return nil, fmt.Errorf("%w: key %q, %s of %s version %d", ErrKeyUnknown, s.GetKeyId(), p.field, p.game, p.version)
}
