// Package rpckit is the edge that every gRPC server of the project shares:
// identity, validation, the error table, logging, health and draining. Services
// behind it return plain Go errors and never see a status.
package rpckit
