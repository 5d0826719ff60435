package sqlstore

import (
	"context"
	"strings"
)

// bulkSizes are for how many rows each form of a bulk statement is, the largest
// first. Statements have a fixed number of parameters, so that they are prepared
// once, and a database is a round trip away.
var bulkSizes = [...]int{128, 16, 1}

// bulk is a statement about any number of rows.
type bulk [len(bulkSizes)]statement

// defineBulk adds a statement in which VALUES stands for rows of the given
// parameters, such as "(?, ?)". Only for variables of this package.
func defineBulk(text, row string) (b bulk) {
	for i, size := range bulkSizes {
		values := "VALUES " + strings.Repeat(row+", ", size-1) + row
		b[i] = define(strings.Replace(text, "VALUES", values, 1))
	}
	return b
}

// each calls run for parts of all, each with the form of the statement for as many.
func each[T any](b bulk, all []T, args func(T) []any, run func(statement, []any) error) error {
	for i, size := range bulkSizes {
		for len(all) >= size {
			values := make([]any, 0, size*8)
			for _, row := range all[:size] {
				values = append(values, args(row)...)
			}
			if err := run(b[i], values); err != nil {
				return err
			}
			all = all[size:]
		}
	}
	return nil
}

// execAll runs a bulk statement about rows.
func execAll[T any](ctx context.Context, t tx, b bulk, all []T, args func(T) []any) error {
	return each(b, all, args, func(n statement, values []any) error {
		_, err := t.exec(ctx, n, values...)
		return err
	})
}

// selectAll returns what a bulk statement finds about keys.
func selectAll[T, K any](ctx context.Context, t tx, scan func(scanFunc) (T, error), b bulk, keys []K, args func(K) []any) (found []T, err error) {
	err = each(b, keys, args, func(n statement, values []any) error {
		part, err := rows(ctx, t, scan, n, values...)
		found = append(found, part...)
		return err
	})
	return found, err
}
