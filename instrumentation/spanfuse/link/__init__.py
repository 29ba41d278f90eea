"""The link to a processor in another process: spans out, orders in, and who judges while nobody answers.

Only the remote host imports this room; grpc and protobuf are imported inside it, when a thread needs them.
"""
