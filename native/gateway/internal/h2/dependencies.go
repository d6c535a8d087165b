package h2

import "slices"

// dependencies are the priorities of RFC 7540 as Chromium sets them: each stream depends, exclusively, on the last one that is at least as urgent.
// So what is under way is one chain in order of urgency, then age; servers that know only these see the browser's order.
type dependencies struct {
	lists [8][]uint32 // by urgency, in the order of their opening
	of    map[uint32]int
}

type moved struct {
	id, parent uint32
	weight     uint8
}

// Weight is what Chromium makes of an urgency: 256 for 0, 1 for 7.
func Weight(urgency int) int { return int(weightOf(urgency)) + 1 }

// weightOf is the same as frames have it: one less.
func weightOf(urgency int) uint8 { return uint8(255.9 / 7 * float64(7-urgency)) }

// urgencyOf is the urgency from which Chromium made a weight, if it did.
func urgencyOf(weight uint8) (urgency int, known bool) {
	for urgency := range 8 {
		if weightOf(urgency) == weight {
			return urgency, true
		}
	}
	return 0, false
}

func (d *dependencies) add(id uint32, urgency int) (parent uint32, weight uint8) {
	if d.of == nil {
		d.of = map[uint32]int{}
	}
	parent = d.before(urgency)
	d.lists[urgency] = append(d.lists[urgency], id)
	d.of[id] = urgency
	return parent, weightOf(urgency)
}

// before is the last stream that is at least as urgent; 0: none.
func (d *dependencies) before(urgency int) uint32 {
	for ; urgency >= 0; urgency-- {
		if list := d.lists[urgency]; len(list) > 0 {
			return list[len(list)-1]
		}
	}
	return 0
}

func (d *dependencies) remove(id uint32) {
	urgency, known := d.of[id]
	if !known {
		return
	}
	list := d.lists[urgency]
	if at := slices.Index(list, id); at >= 0 {
		d.lists[urgency] = slices.Delete(list, at, at+1)
	}
	delete(d.of, id)
}

// move gives a stream another urgency, and says which streams have another parent then: the one behind it, itself, and the one it now is before.
func (d *dependencies) move(id uint32, urgency int) []moved {
	old, known := d.of[id]
	if !known || old == urgency {
		return nil
	}
	var all []moved
	at := slices.Index(d.lists[old], id)
	if child, of := d.after(old, at); child != 0 {
		all = append(all, moved{child, d.parentAt(old, at), weightOf(of)})
	}
	d.remove(id)
	parent, weight := d.add(id, urgency)
	all = append(all, moved{id, parent, weight})
	return all
}

// after is the stream that depends on the one at a place, and its urgency.
func (d *dependencies) after(urgency, at int) (uint32, int) {
	if at+1 < len(d.lists[urgency]) {
		return d.lists[urgency][at+1], urgency
	}
	for urgency++; urgency < len(d.lists); urgency++ {
		if len(d.lists[urgency]) > 0 {
			return d.lists[urgency][0], urgency
		}
	}
	return 0, 0
}

func (d *dependencies) parentAt(urgency, at int) uint32 {
	if at > 0 {
		return d.lists[urgency][at-1]
	}
	return d.before(urgency - 1)
}
