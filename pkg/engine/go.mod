module github.com/scoundrel-game/scoundrel/pkg/engine

go 1.26.0
