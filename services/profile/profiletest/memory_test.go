package profiletest_test

import (
	"testing"

	"github.com/scoundrel-game/scoundrel/services/profile"
	"github.com/scoundrel-game/scoundrel/services/profile/profiletest"
)

func TestMemory(t *testing.T) {
	profiletest.Run(t, func(testing.TB) profile.Store { return &profiletest.Memory{} })
}
