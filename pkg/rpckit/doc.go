// Package rpckit is the edge that every gRPC server of the project shares:
// identity, validation, the error table, logging, health and draining. Services
// behind it return plain Go errors and never see a status.
//
// Every method that is registered with a [Server], unary or streaming, runs
// through one list of interceptors, so the two kinds cannot differ. What comes
// out is either a response or a status that carries a google.rpc.ErrorInfo
// whose reason is an rpcv1.ErrorReason. The only errors without one are those
// that grpc answers by itself, before any method runs: a message of more than
// 16 MiB, an unknown compression, a call that is not gRPC at all.
package rpckit
