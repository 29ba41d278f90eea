"""The spanfuse processor. Imports nothing, so that the library may enter the engine cheaply."""
