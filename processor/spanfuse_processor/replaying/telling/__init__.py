"""What came of a replay, told to a person: tables, timelines, comparisons, and how far a reading is."""
