module github.com/scoundrel-game/scoundrel/services

go 1.26.0

require (
	github.com/scoundrel-game/scoundrel/pkg v0.1.0
	github.com/scoundrel-game/scoundrel/pkg/engine v0.1.0
)

replace (
	github.com/scoundrel-game/scoundrel/pkg => ../pkg
	github.com/scoundrel-game/scoundrel/pkg/engine => ../pkg/engine
)
