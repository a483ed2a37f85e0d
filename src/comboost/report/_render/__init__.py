"""Render a summary as HTML or Markdown."""
