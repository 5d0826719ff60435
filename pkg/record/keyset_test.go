package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestKeysetFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	if _, err := LoadKeyset(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a missing file: %v", err)
	}
	k := NewKeyset()
	if err := k.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := NewKeyset().Save(path); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("an existing keyset was replaced: %v", err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("file mode %v, %v", fi.Mode(), err)
	}
	p := place{"g", 1, "state"}
	sealed, err := k.seal(p, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadKeyset(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded.Rotate()
	if got, err := loaded.open(p, sealed); err != nil || string(got) != "secret" {
		t.Fatalf("after a rotation: %q, %v", got, err)
	}
	for _, content := range []string{"", "{}", "[]", `{"keys":[]}`, `{"keys":[{"id":"a","secret":"AAAA"}]}`} {
		bad := filepath.Join(t.TempDir(), "bad.json")
		if err := os.WriteFile(bad, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeyset(bad); !errors.Is(err, ErrKeyset) {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestSealedFieldIsBoundToItsPlaceAndKey(t *testing.T) {
	k := NewKeyset()
	p := place{"g", 7, "state"}
	sealed, err := k.seal(p, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, moved := range []place{{"h", 7, "state"}, {"g", 8, "state"}, {"g", 7, "secrets"}} {
		if _, err := k.open(moved, sealed); !errors.Is(err, ErrSealBroken) {
			t.Errorf("moved to %v: %v", moved, err)
		}
	}
	if _, err := NewKeyset().open(p, sealed); !errors.Is(err, ErrKeyUnknown) {
		t.Errorf("another keyset: %v", err)
	}
	other := NewKeyset()
	other.keys[0].ID = k.keys[0].ID
	if _, err := other.open(p, sealed); !errors.Is(err, ErrSealBroken) {
		t.Errorf("another key of the same name: %v", err)
	}
	sealed.Ciphertext[0] ^= 1
	if _, err := k.open(p, sealed); !errors.Is(err, ErrSealBroken) {
		t.Errorf("a changed bit: %v", err)
	}
	sealed.Nonce = nil
	if _, err := k.open(p, sealed); !errors.Is(err, ErrSealBroken) {
		t.Errorf("no nonce: %v", err)
	}
}

// What is derived outlives a new key, and differs between purposes and keysets.
func TestDerive(t *testing.T) {
	k := NewKeyset()
	derive := func(k *Keyset, purpose string) string {
		t.Helper()
		key, err := k.Derive(purpose)
		if err != nil || len(key) != 32 {
			t.Fatalf("%d bytes, %v", len(key), err)
		}
		return string(key)
	}
	before := derive(k, "a")
	if k.Rotate(); derive(k, "a") != before || derive(k, "b") == before || derive(NewKeyset(), "a") == before {
		t.Error("a derived key changes, or does not")
	}
}
