// Package timeline draws what happened in an election, as a picture for a
// browser: candidates as rows, reigns as bars with their fencing tokens, and as
// marks how each reign was won (by which proof, docs/SAFETY.md), renewed and
// ended, and what befell whom.
//
// A [Recorder] takes the events of one candidate or of many (core.Config.OnEvent)
// and makes a [Chart] of them; whoever knows more fills in a Chart by hand. A
// Chart is a value. [Chart.WriteSVG] makes one SVG file of it, [Chart.WriteHTML]
// a page that needs nothing else, with a table of the reigns below the picture.
// Both follow the reader's light or dark colours, and everything in them can be
// pointed at for the time, what it is, and the token.
//
// # What is left out
//
// A picture stays small however much happened. Where marks or bars of one kind
// would lie on top of each other they become one, which says how many it stands
// for; a label that has no room is left out, and pointing at its bar tells it.
// At most [MaxRows] rows are drawn, and where there are more than about ten
// thousand parts all the same, renewals are left out. The picture of the same Chart is always the
// same, byte for byte.
//
// # Foreign text
//
// Names of candidates are what anybody has stored. They are escaped, and control
// characters are shown as symbols; long ones are cut in the picture and complete
// (up to a thousand characters) in what pointing at them shows.
package timeline
