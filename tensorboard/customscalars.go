package tensorboard

import (
	"google.golang.org/protobuf/encoding/protowire"
)

const customScalarsTag = "custom_scalars__config__"

// Margin is a curve with a band around it, by the tags of three scalars.
type Margin struct{ Value, Lower, Upper string }

// Chart is a chart of the custom scalars page: either several curves, by their
// tags, or curves with margins.
type Chart struct {
	Title   string
	Tags    []string
	Margins []Margin
}

// Category is a group of charts.
type Category struct {
	Title  string
	Charts []Chart
	Closed bool // folded at first
}

// AddCustomScalars writes the layout of the custom scalars page, once per run.
func (w *SummaryWriter) AddCustomScalars(layout []Category) error {
	var l []byte
	for _, c := range layout {
		cat := putStr(nil, 1, c.Title)
		for _, ch := range c.Charts {
			b := putStr(nil, 1, ch.Title)
			var content []byte
			if len(ch.Margins) > 0 {
				for _, m := range ch.Margins {
					content = putMsg(content, 1, putStr(putStr(putStr(nil, 1, m.Value), 2, m.Lower), 3, m.Upper))
				}
				b = putMsg(b, 3, content)
			} else {
				for _, t := range ch.Tags {
					content = putMsg(content, 1, []byte(t))
				}
				b = putMsg(b, 2, content)
			}
			cat = putMsg(cat, 2, b)
		}
		l = putMsg(l, 2, putBool(cat, 3, c.Closed))
	}
	return w.add(0, 0, pluginValue(customScalarsTag, PluginCustomScalars, nil,
		&Tensor{DType: DTString, Shape: &TensorShape{}, StringVal: [][]byte{l}}))
}

// AddCustomScalarsMultilineChart writes a layout of a single chart of several
// curves. Empty names are "default" and "untitled".
func (w *SummaryWriter) AddCustomScalarsMultilineChart(tags []string, category, title string) error {
	return w.oneChart(Chart{Tags: tags}, category, title)
}

// AddCustomScalarsMarginChart writes a layout of a single chart of one curve with
// a margin. Empty names are "default" and "untitled".
func (w *SummaryWriter) AddCustomScalarsMarginChart(m Margin, category, title string) error {
	return w.oneChart(Chart{Margins: []Margin{m}}, category, title)
}

func (w *SummaryWriter) oneChart(c Chart, category, title string) error {
	if category == "" {
		category = "default"
	}
	if title == "" {
		title = "untitled"
	}
	c.Title = title
	return w.AddCustomScalars([]Category{{Title: category, Charts: []Chart{c}}})
}

func parseLayout(b []byte) (layout []Category, err error) {
	err = fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
		if num != 2 || typ != wLen {
			return nil
		}
		var c Category
		err := fields(s, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
			switch {
			case num == 1 && typ == wLen:
				c.Title = string(s)
			case num == 3 && typ == wVar:
				c.Closed = v != 0
			case num == 2 && typ == wLen:
				var ch Chart
				err := ch.parse(s)
				c.Charts = append(c.Charts, ch)
				return err
			}
			return nil
		})
		layout = append(layout, c)
		return err
	})
	return
}

func (c *Chart) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
		if typ != wLen {
			return nil
		}
		switch num {
		case 1:
			c.Title = string(s)
		case 2:
			return fields(s, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
				if num == 1 && typ == wLen {
					c.Tags = append(c.Tags, string(s))
				}
				return nil
			})
		case 3:
			return fields(s, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
				if num != 1 || typ != wLen {
					return nil
				}
				c.Margins = append(c.Margins, Margin{})
				m := &c.Margins[len(c.Margins)-1]
				return fields(s, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
					if typ == wLen {
						switch num {
						case 1:
							m.Value = string(s)
						case 2:
							m.Lower = string(s)
						case 3:
							m.Upper = string(s)
						}
					}
					return nil
				})
			})
		}
		return nil
	})
}
