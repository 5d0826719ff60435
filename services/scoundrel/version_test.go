package scoundrel

import "testing"

func TestVersion(t *testing.T) {
	if out, errs, code := run(t, "", "version"); code != 0 || out != "scoundrel "+Version+"\n" || errs != "" {
		t.Errorf("status %d, %q, %q", code, out, errs)
	}
}
