// Package postgrestest runs a PostgreSQL server for tests: on loopback, in a
// folder of its own, as somebody else where the tests are root, which PostgreSQL
// refuses to be.
package postgrestest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Server is a running server.
type Server struct {
	bin, dir string
	port     int
	run      *syscall.SysProcAttr
	process  *exec.Cmd
	exited   chan error
	output   bytes.Buffer
	count    atomic.Int64
}

// Start makes a server and starts it. It is stopped and removed when the test
// ends. A machine without PostgreSQL fails the test: nothing about it may go
// untested.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(syscall.SIGQUIT) }) // it may be stopped already
	return s
}

func start(dir string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: filepath.Join(dir, "postgres"), port: listener.Addr().(*net.TCPAddr).Port}
	if err := listener.Close(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	if os.Getuid() == 0 {
		if err := s.dropRoot(dir); err != nil {
			return nil, err
		}
	}
	initdb := s.command("initdb", "-D", s.dir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s, s.Run()
}

// binaries returns the folder of PostgreSQL's programs.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		return "", errors.New("the tests need PostgreSQL 15 or later: install Debian's package postgresql, or have initdb and postgres in PATH")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // 0 for a name that is none
		return n
	}
	return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
}

// dropRoot makes the server run as nobody, who then owns its folder.
func (s *Server) dropRoot(parent string) error {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err1 := strconv.Atoi(nobody.Uid)
	gid, err2 := strconv.Atoi(nobody.Gid)
	if err := errors.Join(err1, err2, os.Chown(s.dir, uid, gid)); err != nil {
		return err
	}
	// Down to the folder everybody may pass.
	for p := parent; len(p) > 1 && p != os.TempDir(); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			return err
		}
	}
	s.run = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...) // Stop ends it
	cmd.Dir, cmd.SysProcAttr = s.dir, s.run
	return cmd
}

// Run starts the server again after Stop.
func (s *Server) Run() error {
	s.process = s.command("postgres", "-D", s.dir, "-p", strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "fsync=off")
	s.output.Reset()
	s.process.Stdout, s.process.Stderr = &s.output, &s.output
	if err := s.process.Start(); err != nil {
		return err
	}
	s.exited = make(chan error, 1)
	go func() { s.exited <- s.process.Wait() }()
	db, err := sql.Open("pgx", s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case ended := <-s.exited:
			return fmt.Errorf("PostgreSQL ended with %w: %s", ended, s.output.String())
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-tick.C:
		}
	}
}

// Stop ends the server: SIGINT in order, SIGQUIT and SIGKILL at once.
func (s *Server) Stop(signal syscall.Signal) error {
	if err := s.process.Process.Signal(signal); err != nil {
		return err
	}
	err := <-s.exited
	if _, told := errors.AsType[*exec.ExitError](err); told {
		return nil
	}
	return err
}

// URL returns the address of a database.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// Database makes an empty database and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	db, err := sql.Open("pgx", s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	name := fmt.Sprintf("test%d", s.count.Add(1))
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return s.URL(name)
}
