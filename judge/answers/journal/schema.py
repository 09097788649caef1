"""The journal's tables and format version. Parsed ratings are not stored: answers are parsed when a table is built."""

from __future__ import annotations

FORMAT = 1
"""Raised when a released program can no longer read older journals as they stand; see tests/journals."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE stories (
    position INTEGER PRIMARY KEY,            -- order in the dataset, from 0
    id TEXT NOT NULL UNIQUE,
    story_prompt TEXT NOT NULL,
    system TEXT NOT NULL,
    text TEXT NOT NULL,
    reference TEXT
);
CREATE INDEX stories_by_prompt ON stories (story_prompt, position);

CREATE TABLE ratings (                       -- people's ratings; rater is NULL where identity is unknown
    story INTEGER NOT NULL REFERENCES stories (position),
    criterion TEXT NOT NULL,
    rater TEXT,
    value REAL NOT NULL
);
CREATE INDEX ratings_by_story ON ratings (story);

CREATE TABLE sessions (                      -- one row for each time a program worked on this journal
    id INTEGER PRIMARY KEY,
    started REAL NOT NULL,                   -- seconds since 1970, here and below
    first_request REAL,
    last_commit REAL,
    executor TEXT NOT NULL,
    ended TEXT                               -- done, interrupted, stopped: SENTENCE; NULL = running or killed
);

CREATE TABLE queries (
    key TEXT PRIMARY KEY,
    story TEXT NOT NULL,
    criterion TEXT NOT NULL,
    eval_prompt TEXT NOT NULL,
    flags TEXT NOT NULL                      -- joined by ';'
) WITHOUT ROWID;

CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    query_key TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('answered', 'provider_error', 'timeout', 'filtered')),
    final INTEGER NOT NULL,                  -- 1 = answered, or given up: running again does not ask again
    started REAL NOT NULL,
    seconds REAL NOT NULL,
    session INTEGER NOT NULL,
    status INTEGER,                          -- HTTP status, where there was one
    error_kind TEXT,
    error TEXT
);
CREATE INDEX attempts_by_repeat ON attempts (query_key, repeat);

CREATE TABLE responses (                     -- accepted answers
    query_key TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    text TEXT NOT NULL,
    finish_reason TEXT,
    reasoning TEXT,
    prompt_tokens INTEGER,                   -- of the whole call, on the first of its repeats; likewise the next two
    completion_tokens INTEGER,               -- all that is billed as answer, thinking included
    cached_tokens INTEGER,
    logprobs TEXT,                           -- JSON
    model TEXT,                              -- as the server named it
    UNIQUE (query_key, repeat)
);

CREATE TABLE replaced (                      -- answers that were asked again on demand, kept; same columns
    query_key TEXT NOT NULL, repeat INTEGER NOT NULL, text TEXT NOT NULL, finish_reason TEXT, reasoning TEXT,
    prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER, logprobs TEXT, model TEXT
);
"""

SHARDS = """
CREATE TABLE IF NOT EXISTS shards (          -- files of attempts merged into this journal; only where there were any
    name TEXT PRIMARY KEY,
    rows INTEGER NOT NULL,                   -- attempts it brought
    merged REAL NOT NULL
)
"""
"""Made when the first shard is merged, so that journals without shards stay as they were."""

PANELS = """
CREATE TABLE IF NOT EXISTS panels (          -- panels of people's ratings; only where some rating has one
    story INTEGER NOT NULL REFERENCES stories (position),
    place INTEGER NOT NULL,                  -- the rating's place among those of its story, from 0
    panel TEXT NOT NULL,
    PRIMARY KEY (story, place)
) WITHOUT ROWID
"""
"""Made when the first rating with a panel is stored, so that journals without panels stay as they were."""

USAGE = """
CREATE TABLE usage (                         -- what a server said of a call beyond its tokens; only where it did
    attempt INTEGER PRIMARY KEY,             -- the first repeat's
    reasoning_tokens INTEGER,                -- the part of completion_tokens that was thinking
    cache_write_tokens INTEGER,              -- the part of prompt_tokens that went into the provider's cache
    cost REAL                                -- dollars, as the server named them
)
"""

PAIRS = """
CREATE TABLE IF NOT EXISTS pairs (           -- what a run compares, in the order in which it is asked; else no table
    position INTEGER PRIMARY KEY,            -- from 0; a pair that is shown in both orders has two rows
    number INTEGER NOT NULL,                 -- of the pair, from 0: a limit counts pairs
    pair TEXT NOT NULL,
    first TEXT NOT NULL,                     -- stories' ids, as they are shown
    second TEXT NOT NULL
)
"""

COMPARISONS = """
CREATE TABLE IF NOT EXISTS comparisons (     -- queries that compare: queries.story was shown first
    query_key TEXT PRIMARY KEY,
    pair TEXT NOT NULL,
    second TEXT NOT NULL                     -- the story that was shown second
) WITHOUT ROWID
"""

PREFERENCES = """
CREATE TABLE IF NOT EXISTS preferences (     -- people's; rater is NULL where identity is unknown
    pair TEXT NOT NULL,
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    criterion TEXT NOT NULL,
    rater TEXT,
    value TEXT NOT NULL                      -- first, second or tie
)
"""

COMMENTS = """
CREATE TABLE IF NOT EXISTS comments (        -- what people wrote about their ratings
    story INTEGER NOT NULL,
    place INTEGER NOT NULL,                  -- of the rating among the story's, from 0
    comment TEXT NOT NULL,
    PRIMARY KEY (story, place)
) WITHOUT ROWID
"""
"""Like the three before it, and `shards`: made on first use, so that journals which need none stay as they were."""

MIGRATIONS = (USAGE,)
"""Additions to format 1, numbered from 1, which older programs do not see. PRAGMA user_version counts those made.

Each is made when the first row needs it, so that journals which need none stay as they were.
"""
