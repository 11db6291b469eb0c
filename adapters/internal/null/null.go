// Package null finds nil where an interface hides it.
package null

import "reflect"

// Is tells whether v is nil, or an interface around a nil pointer, map, func, channel
// or slice.
func Is(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice:
		return r.IsNil()
	}
	return false
}
