-- The tables of the first version: {moment}, {bytes}, {share} and {serial} are each vendor's types (0016_6_desk.py). It never changes.

CREATE TABLE audit (
    id {serial},
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    from_state VARCHAR(32),
    to_state VARCHAR(32),
    change VARCHAR(32),
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    note_sha256 TEXT,
    at {moment} NOT NULL,
    previous TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    CONSTRAINT one_audit_line_per_version UNIQUE (stream, seq),
    CONSTRAINT declared_move CHECK ((from_state IS NULL AND (to_state IS NULL OR to_state = 'captured'))
        OR (from_state = 'captured' AND to_state IN ('expired', 'folded', 'queued', 'withdrawn'))
        OR (from_state = 'queued' AND to_state IN ('drafting', 'expired', 'no_reply', 'withdrawn'))
        OR (from_state = 'drafting' AND to_state IN ('in_review', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
        OR (from_state = 'in_review' AND to_state IN ('approved', 'declined', 'expired', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
        OR (from_state = 'approved' AND to_state IN ('expired', 'in_review', 'needs_person', 'queued', 'sending', 'shadowed', 'withdrawn'))
        OR (from_state = 'sending' AND to_state IN ('approved', 'failed', 'posted', 'unknown'))
        OR (from_state = 'posted' AND to_state IN ('retracted'))
        OR (from_state = 'declined' AND to_state IN ('in_review', 'needs_person', 'queued'))
        OR (from_state = 'no_reply' AND to_state IN ('failed', 'in_review', 'needs_person', 'queued'))
        OR (from_state = 'expired' AND to_state IN ('in_review', 'queued'))
        OR (from_state = 'withdrawn' AND to_state IN ('failed', 'folded', 'in_review', 'needs_person', 'queued'))
        OR (from_state = 'needs_person' AND to_state IN ('declined', 'expired', 'failed', 'in_review', 'no_reply', 'posted', 'queued', 'withdrawn'))
        OR (from_state = 'unknown' AND to_state IN ('failed', 'needs_person', 'posted', 'sending'))
        OR (from_state = 'failed' AND to_state IN ('expired', 'in_review', 'needs_person', 'no_reply', 'queued', 'withdrawn'))
        OR (from_state = 'folded' AND to_state IN ('declined', 'expired', 'no_reply', 'queued', 'withdrawn'))
        OR (from_state = 'shadowed' AND to_state IN ('in_review', 'queued'))),
    CONSTRAINT audit_from_state CHECK (from_state IN ('captured', 'queued', 'drafting', 'in_review', 'approved', 'sending', 'posted', 'declined', 'no_reply', 'expired', 'withdrawn', 'needs_person', 'unknown', 'failed', 'folded', 'shadowed', 'retracted')),
    CONSTRAINT audit_to_state CHECK (to_state IN ('captured', 'queued', 'drafting', 'in_review', 'approved', 'sending', 'posted', 'declined', 'no_reply', 'expired', 'withdrawn', 'needs_person', 'unknown', 'failed', 'folded', 'shadowed', 'retracted')),
    CONSTRAINT audit_change CHECK (change IN ('shadow', 'posting', 'stopped', 'resumed', 'rules', 'setting', 'deleted'))
);
CREATE INDEX audit_by_time ON audit (at);

CREATE TABLE communities (
    id TEXT NOT NULL,
    platform TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    rules_version INTEGER NOT NULL,
    is_posting BOOLEAN NOT NULL,
    discloses BOOLEAN NOT NULL,
    policy JSON NOT NULL,
    created_at {moment} NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE digests (
    slot TEXT NOT NULL,
    streams INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    at {moment} NOT NULL,
    PRIMARY KEY (slot)
);

CREATE TABLE jobs (
    id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    kind TEXT NOT NULL,
    community_id TEXT NOT NULL,
    case_id TEXT,
    payload JSON NOT NULL,
    priority INTEGER NOT NULL,
    state VARCHAR(32) NOT NULL,
    run_at {moment} NOT NULL,
    attempts INTEGER NOT NULL,
    excused INTEGER NOT NULL,
    started_at {moment},
    owner TEXT,
    lease_until {moment},
    progress TEXT,
    error TEXT,
    created_at {moment} NOT NULL,
    updated_at {moment} NOT NULL,
    PRIMARY KEY (id),
    UNIQUE ("key"),
    CONSTRAINT job_state CHECK (state IN ('ready', 'running', 'done', 'dead', 'cancelled'))
);
CREATE INDEX jobs_by_case ON jobs (case_id);
CREATE INDEX jobs_by_end ON jobs (state, kind, updated_at);
CREATE INDEX jobs_due ON jobs (state, kind, priority, community_id, run_at, id);

CREATE TABLE leaderships (
    office TEXT NOT NULL,
    owner TEXT NOT NULL,
    until {moment} NOT NULL,
    PRIMARY KEY (office)
);

CREATE TABLE member_flags (
    platform TEXT NOT NULL,
    community TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    person_id TEXT NOT NULL,
    flagged_at {moment} NOT NULL,
    PRIMARY KEY (platform, community, channel, message, person_id)
);
CREATE INDEX member_flags_by_person ON member_flags (person_id);

CREATE TABLE notes (
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    text TEXT NOT NULL,
    salt TEXT NOT NULL,
    PRIMARY KEY (stream, seq)
);

CREATE TABLE offsets (
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    cursor TEXT NOT NULL,
    stored_at {moment} NOT NULL,
    PRIMARY KEY (platform, account)
);

CREATE TABLE pauses (
    scope TEXT NOT NULL,
    paused_by TEXT NOT NULL,
    at {moment} NOT NULL,
    PRIMARY KEY (scope)
);

CREATE TABLE persons (
    id TEXT NOT NULL,
    lookup TEXT NOT NULL,
    "key" {bytes} NOT NULL,
    created_at {moment} NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (lookup)
);

CREATE TABLE platforms (
    platform TEXT NOT NULL,
    owner TEXT NOT NULL,
    state VARCHAR(32) NOT NULL,
    since {moment} NOT NULL,
    failures INTEGER NOT NULL,
    message JSON NOT NULL,
    remedy JSON NOT NULL,
    again_at {moment},
    until {moment} NOT NULL,
    PRIMARY KEY (platform, owner),
    CONSTRAINT platform_state CHECK (state IN ('connecting', 'connected', 'waiting', 'refused'))
);

CREATE TABLE turns (
    community_id TEXT NOT NULL,
    served_at {moment} NOT NULL,
    PRIMARY KEY (community_id)
);

CREATE TABLE updates (
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    number BIGINT NOT NULL,
    state VARCHAR(32) NOT NULL,
    lane TEXT NOT NULL,
    is_urgent BOOLEAN NOT NULL,
    payload TEXT,
    received_at {moment} NOT NULL,
    PRIMARY KEY (platform, account, number),
    CONSTRAINT update_state CHECK (state IN ('waiting', 'done', 'failed', 'unknown'))
);
CREATE INDEX updates_by_age ON updates (received_at);
CREATE INDEX updates_waiting ON updates (platform, account, state, is_urgent, received_at, number);

CREATE TABLE board_troubles (
    community_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    message JSON NOT NULL,
    remedy JSON NOT NULL,
    since {moment} NOT NULL,
    PRIMARY KEY (community_id, channel),
    FOREIGN KEY(community_id) REFERENCES communities (id)
);

CREATE TABLE cases (
    id TEXT NOT NULL,
    platform TEXT NOT NULL,
    community TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    community_id TEXT NOT NULL,
    root TEXT NOT NULL,
    text TEXT NOT NULL,
    target_sha256 TEXT NOT NULL,
    revision TEXT NOT NULL,
    is_from_elsewhere BOOLEAN NOT NULL,
    author TEXT NOT NULL,
    author_name TEXT NOT NULL,
    flagged_by TEXT NOT NULL,
    flagged_how TEXT NOT NULL,
    is_late BOOLEAN NOT NULL,
    priority INTEGER NOT NULL,
    thread JSON NOT NULL,
    words JSON NOT NULL,
    wish JSON NOT NULL,
    original VARCHAR(32) NOT NULL,
    state VARCHAR(32) NOT NULL,
    version INTEGER NOT NULL,
    campaign_id TEXT,
    held_by TEXT,
    held_until {moment},
    created_at {moment} NOT NULL,
    updated_at {moment} NOT NULL,
    erased_at {moment},
    unshown INTEGER NOT NULL,
    score {share},
    is_hateful BOOLEAN,
    labelled_at {moment},
    edited_at {moment},
    most_characters INTEGER NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT one_case_per_post UNIQUE (platform, community, channel, message),
    FOREIGN KEY(community_id) REFERENCES communities (id),
    CONSTRAINT original CHECK (original IN ('unchanged', 'edited', 'deleted')),
    CONSTRAINT case_state CHECK (state IN ('captured', 'queued', 'drafting', 'in_review', 'approved', 'sending', 'posted', 'declined', 'no_reply', 'expired', 'withdrawn', 'needs_person', 'unknown', 'failed', 'folded', 'shadowed', 'retracted'))
);
CREATE INDEX cases_by_author ON cases (author, community_id, created_at);
CREATE INDEX cases_by_campaign ON cases (campaign_id);
CREATE INDEX cases_by_community ON cases (community_id, state, updated_at);
CREATE INDEX cases_by_conversation ON cases (community_id, root);
CREATE INDEX cases_by_flagger ON cases (flagged_by, created_at);
CREATE INDEX cases_by_label ON cases (community_id, labelled_at);
CREATE INDEX cases_by_state ON cases (state, updated_at);
CREATE INDEX cases_held ON cases (held_until);
CREATE INDEX cases_unshown ON cases (community_id, unshown);

CREATE TABLE known_names (
    community_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (community_id, person_id),
    FOREIGN KEY(community_id) REFERENCES communities (id)
);

CREATE TABLE memberships (
    community_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    role VARCHAR(32) NOT NULL,
    "user" TEXT NOT NULL,
    name TEXT NOT NULL,
    is_native BOOLEAN NOT NULL,
    granted_by TEXT NOT NULL,
    granted_at {moment} NOT NULL,
    platform TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (community_id, person_id, role, is_native),
    FOREIGN KEY(community_id) REFERENCES communities (id),
    CONSTRAINT role CHECK (role IN ('volunteer', 'moderator', 'manager', 'auditor', 'admin'))
);
CREATE INDEX memberships_by_person ON memberships (person_id);

CREATE TABLE own_cards (
    community_id TEXT NOT NULL,
    id TEXT NOT NULL,
    document JSON NOT NULL,
    digest TEXT NOT NULL,
    proposed_by TEXT,
    proposer TEXT,
    proposed_at {moment} NOT NULL,
    verdict VARCHAR(32),
    reviewed_by TEXT,
    reviewer TEXT,
    reviewed_at {moment},
    PRIMARY KEY (community_id, id),
    FOREIGN KEY(community_id) REFERENCES communities (id),
    CONSTRAINT card_verdict CHECK (verdict IN ('accepted', 'declined'))
);

CREATE TABLE prepared_replies (
    community_id TEXT NOT NULL,
    id TEXT NOT NULL,
    language TEXT,
    target_group VARCHAR(32),
    stereotype TEXT,
    intent VARCHAR(32),
    text TEXT,
    is_hidden BOOLEAN NOT NULL,
    reviewed_by TEXT,
    reviewer TEXT,
    reviewed_at {moment},
    PRIMARY KEY (community_id, id),
    FOREIGN KEY(community_id) REFERENCES communities (id),
    CONSTRAINT prepared_target_group CHECK (target_group IN ('women', 'people of colour', 'persons with disabilities', 'migrants', 'Muslims', 'Jews', 'LGBT persons', 'other'))
);

CREATE TABLE watch_days (
    community_id TEXT NOT NULL,
    day DATE NOT NULL,
    looked_at INTEGER NOT NULL,
    first_at {moment} NOT NULL,
    PRIMARY KEY (community_id, day),
    FOREIGN KEY(community_id) REFERENCES communities (id)
);

CREATE TABLE campaigns (
    id TEXT NOT NULL,
    community_id TEXT NOT NULL,
    lead_case_id TEXT NOT NULL,
    posts INTEGER NOT NULL,
    created_at {moment} NOT NULL,
    updated_at {moment} NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(community_id) REFERENCES communities (id),
    FOREIGN KEY(lead_case_id) REFERENCES cases (id)
);
CREATE INDEX campaigns_by_lead ON campaigns (lead_case_id);

CREATE TABLE claim_choices (
    case_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    claim TEXT NOT NULL,
    PRIMARY KEY (case_id, version),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);

CREATE TABLE first_approvals (
    case_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    moderator TEXT NOT NULL,
    policy_version INTEGER NOT NULL,
    at {moment} NOT NULL,
    expires_at {moment} NOT NULL,
    PRIMARY KEY (case_id, version, sha256, moderator),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);

CREATE TABLE flaggers (
    case_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    "user" TEXT NOT NULL,
    flagged_at {moment} NOT NULL,
    PRIMARY KEY (case_id, person_id),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);

CREATE TABLE notices (
    case_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    about TEXT NOT NULL,
    begun_at {moment} NOT NULL,
    said_at {moment},
    PRIMARY KEY (case_id, kind, about),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);

CREATE TABLE outcomes (
    case_id TEXT NOT NULL,
    after_hours INTEGER NOT NULL,
    reply_stands BOOLEAN,
    original_stands BOOLEAN,
    author_flagged_again INTEGER NOT NULL,
    at {moment} NOT NULL,
    PRIMARY KEY (case_id, after_hours),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);

CREATE TABLE previews (
    case_id TEXT NOT NULL,
    document TEXT NOT NULL,
    at {moment} NOT NULL,
    PRIMARY KEY (case_id),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);

CREATE TABLE proposals (
    id TEXT NOT NULL,
    case_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    person_id TEXT NOT NULL,
    text TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    suggestion_id TEXT,
    draft_rank INTEGER,
    created_at {moment} NOT NULL,
    quote TEXT NOT NULL,
    is_posting BOOLEAN NOT NULL,
    rules_version INTEGER NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);
CREATE INDEX proposals_by_case ON proposals (case_id);

CREATE TABLE review_cards (
    case_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    digest TEXT NOT NULL,
    shown_at {moment} NOT NULL,
    PRIMARY KEY (case_id),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);

CREATE TABLE suggestions (
    id TEXT NOT NULL,
    case_id TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at {moment} NOT NULL,
    is_outdated BOOLEAN NOT NULL,
    severity INTEGER,
    target_group TEXT,
    PRIMARY KEY (id),
    FOREIGN KEY(case_id) REFERENCES cases (id)
);
CREATE INDEX suggestions_by_case ON suggestions (case_id, created_at);
CREATE INDEX suggestions_by_severity ON suggestions (case_id, is_outdated, created_at, severity);
CREATE INDEX suggestions_by_group ON suggestions (case_id, is_outdated, created_at, target_group);

CREATE TABLE approvals (
    id TEXT NOT NULL,
    case_id TEXT NOT NULL,
    suggestion_id TEXT,
    draft_rank INTEGER,
    text TEXT NOT NULL,
    footer TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    moderator TEXT NOT NULL,
    seconded_by TEXT,
    approved_at {moment} NOT NULL,
    expires_at {moment} NOT NULL,
    policy_version INTEGER NOT NULL,
    edited BOOLEAN NOT NULL,
    target_sha256 TEXT NOT NULL,
    quote TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(case_id) REFERENCES cases (id),
    FOREIGN KEY(suggestion_id) REFERENCES suggestions (id)
);
CREATE INDEX approvals_by_case ON approvals (case_id);

CREATE TABLE campaign_bands (
    community_id TEXT NOT NULL,
    band TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    begun_at {moment} NOT NULL,
    PRIMARY KEY (community_id, band, campaign_id),
    FOREIGN KEY(community_id) REFERENCES communities (id),
    FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
CREATE INDEX bands_by_campaign ON campaign_bands (campaign_id);
CREATE INDEX bands_by_time ON campaign_bands (begun_at);

CREATE TABLE outbox (
    id TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    state VARCHAR(32) NOT NULL,
    not_before {moment} NOT NULL,
    attempts INTEGER NOT NULL,
    first_sent_at {moment},
    lease_until {moment},
    remote_message TEXT,
    posted_at {moment},
    error TEXT,
    updated_at {moment} NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (approval_id),
    FOREIGN KEY(approval_id) REFERENCES approvals (id),
    CONSTRAINT outbox_state CHECK (state IN ('queued', 'sending', 'posted', 'unknown', 'failed', 'cancelled', 'shadowed', 'retracted'))
);
CREATE INDEX outbox_by_message ON outbox (remote_message);
CREATE INDEX outbox_by_state ON outbox (state, not_before);
CREATE INDEX outbox_by_time ON outbox (state, first_sent_at);

CREATE TABLE accounts (
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    language TEXT NOT NULL,
    has_keys BOOLEAN NOT NULL,
    is_quiet BOOLEAN DEFAULT FALSE NOT NULL,
    hides TEXT DEFAULT '' NOT NULL,
    created_at {moment} NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE account_people (
    account TEXT NOT NULL,
    platform TEXT NOT NULL,
    "user" TEXT NOT NULL,
    PRIMARY KEY (account, platform),
    FOREIGN KEY(account) REFERENCES accounts (name)
);

CREATE TABLE web_sessions (
    id TEXT NOT NULL,
    account TEXT NOT NULL,
    begun_at {moment} NOT NULL,
    seen_at {moment} NOT NULL,
    link_until {moment},
    said TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(account) REFERENCES accounts (name)
);
CREATE INDEX web_sessions_by_account ON web_sessions (account);
CREATE INDEX web_sessions_by_time ON web_sessions (seen_at);

CREATE TABLE api_tokens (
    id TEXT NOT NULL,
    secret TEXT NOT NULL,
    account TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at {moment} NOT NULL,
    expires_at {moment} NOT NULL,
    used_at {moment},
    PRIMARY KEY (id),
    FOREIGN KEY(account) REFERENCES accounts (name)
);
CREATE INDEX api_tokens_by_account ON api_tokens (account);
