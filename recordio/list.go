package recordio

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ListItem is one line of an im2rec list (.lst): the record's id, its label or
// labels, and the picture's path relative to the image folder.
type ListItem struct {
	Index  int
	Labels []float64
	Path   string
}

// ParseList reads the text of a .lst file: index, one or more labels and the
// path, separated by tabs. A line that does not fit is left out and reported in
// bad with its number, because im2rec goes on with the rest of the list.
func ParseList(text string) (items []ListItem, bad []error) {
	line := 0
	for len(text) > 0 {
		var row string
		// Python's text mode ends a line at any of \n, \r\n and \r.
		if i := strings.IndexAny(text, "\r\n"); i < 0 {
			row, text = text, ""
		} else {
			row = text[:i]
			if strings.HasPrefix(text[i:], "\r\n") {
				i++
			}
			text = text[i+1:]
		}
		line++
		item, err := parseListLine(row)
		if err != nil {
			bad = append(bad, fmt.Errorf("recordio: list line %d: %w", line, err))
			continue
		}
		items = append(items, item)
	}
	return items, bad
}

func parseListLine(row string) (ListItem, error) {
	cols := strings.Split(strings.TrimSpace(row), "\t")
	if len(cols) < 3 {
		return ListItem{}, fmt.Errorf("%d columns, expected index, label and path", len(cols))
	}
	for i := range cols {
		cols[i] = strings.TrimSpace(cols[i])
	}
	idx, err := strconv.Atoi(cols[0])
	if err != nil {
		return ListItem{}, fmt.Errorf("index %q is not an integer", clip([]byte(cols[0])))
	}
	item := ListItem{Index: idx, Path: cols[len(cols)-1]}
	for _, c := range cols[1 : len(cols)-1] {
		v, err := strconv.ParseFloat(c, 64)
		// Too large a number is infinite in Python, not an error.
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return ListItem{}, fmt.Errorf("label %q is not a number", clip([]byte(c)))
		}
		item.Labels = append(item.Labels, v)
	}
	return item, nil
}

// AppendList appends the text of a .lst file to dst in im2rec's format: labels
// with six decimals, columns separated by tabs. A path that holds a tab or a
// line break could not be read back and is an error.
func AppendList(dst []byte, items []ListItem) ([]byte, error) {
	for _, it := range items {
		if strings.ContainsAny(it.Path, "\t\r\n") {
			return dst, fmt.Errorf("recordio: list: path %q contains a tab or a line break", it.Path)
		}
		dst = strconv.AppendInt(dst, int64(it.Index), 10)
		dst = append(dst, '\t')
		for _, v := range it.Labels {
			// Python writes inf and nan in lower case and infinity without a plus.
			dst = append(dst, strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%f\t", v), "+"))...)
		}
		dst = append(dst, it.Path...)
		dst = append(dst, '\n')
	}
	return dst, nil
}

// WriteList writes a .lst file.
func WriteList(path string, items []ListItem) error {
	text, err := AppendList(nil, items)
	if err != nil {
		return err
	}
	return writeFile(path, text)
}
