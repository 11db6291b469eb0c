package schedule

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// CloudScheduler is the slot of a request of Google's Cloud Scheduler: the header
// X-CloudScheduler-ScheduleTime, which all tries of one run share. The error
// Is ErrNoSlot where there is none, or none that can be read.
//
// Only jobs with a unix-cron schedule are sure to have it. A run that somebody
// starts by hand has the time of the NEXT run in it, or nothing; Config.MaxAhead
// refuses the former, lest the next run be taken for done. Source: "Deduplicate
// job requests", docs.cloud.google.com/scheduler.
func CloudScheduler(h http.Header) (Slot, error) {
	text := h.Get("X-CloudScheduler-ScheduleTime")
	if text == "" {
		return Slot{}, fmt.Errorf("%w: the request has no header X-CloudScheduler-ScheduleTime: it does not come from Cloud Scheduler, or from a job without a unix-cron schedule", ErrNoSlot)
	}
	return Parse(text)
}

// EventBridge is the slot of an event of Amazon EventBridge: its field "time",
// which is the same in all deliveries of one event. The error Is ErrNoSlot.
//
// EventBridge Scheduler sends what you write into its input: write
// {"time": "<aws.scheduler.scheduled-time>"} there. Source: "Adding context
// attributes", EventBridge Scheduler's user guide.
//
// With github.com/aws/aws-lambda-go/events, At(event.Time) is the same.
func EventBridge(event []byte) (Slot, error) {
	var e struct {
		Time string `json:"time"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return Slot{}, fmt.Errorf("%w: the event is not a JSON object with a time: %w", ErrNoSlot, err)
	}
	if e.Time == "" {
		return Slot{}, fmt.Errorf(`%w: the event has no field "time": in EventBridge Scheduler's input write {"time": "<aws.scheduler.scheduled-time>"}`, ErrNoSlot)
	}
	return Parse(e.Time)
}
