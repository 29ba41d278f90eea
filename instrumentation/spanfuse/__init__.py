"""spanfuse: a breaker for LLM agents. This package is the library that emits spans and obeys."""
