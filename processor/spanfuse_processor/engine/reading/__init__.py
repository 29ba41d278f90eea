"""What dialects share: lenient values, identities, older names, and the fingerprints on a span."""
