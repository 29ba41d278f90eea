"""The demo: the main job on real parts, each in its own process.

A provider that speaks HTTP, the processor, and agents that use the unmodified `openai` package. Nothing in
here is used by the library or by the processor.
"""
