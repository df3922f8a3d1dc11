"""Pictures: functions that draw on an `Axes` of matplotlib, which they import when called."""
