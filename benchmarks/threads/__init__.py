"""What a second thread is worth: alone, beside busy processes, under a quota."""
