"""The way in: OTLP over gRPC and HTTP becomes plain spans. Nothing else of the processor knows OTLP."""
