-- Time at which the order was posted or last changed; null: before this version.
ALTER TABLE shopOrder ADD COLUMN postedAt INTEGER;
CREATE INDEX shopOrderByPosting ON shopOrder (domainId, postedAt, at);

-- Rules that check whether a shop's orders reach a vendor.
CREATE TABLE orderCaptureRule (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  position INTEGER NOT NULL,            -- order in the list of the organization
  vendor TEXT NOT NULL,
  minCapturePct REAL,                   -- null: only the learned range applies
  maxDuplicates INTEGER,                -- null: duplicates are not checked
  maxValueDeviationPct REAL,            -- null: only the learned range applies
  settlingMinutes INTEGER NOT NULL,
  channels TEXT NOT NULL,               -- JSON; URLs are sealed
  enabled INTEGER NOT NULL,
  countedTo INTEGER NOT NULL,           -- orders that settled before this are counted; 0: none
  state TEXT NOT NULL                   -- JSON: problems that the last evaluation found, and the learned range
) STRICT;
CREATE INDEX orderCaptureRuleByOrg ON orderCaptureRule (orgId, position);
CREATE INDEX orderCaptureRuleByDomain ON orderCaptureRule (domainId);

-- Counts of settled orders by the time of the order: per 5 minutes for two days, per hour before that.
CREATE TABLE orderCaptureCount (
  ruleId TEXT NOT NULL REFERENCES orderCaptureRule ON DELETE CASCADE,
  startAt INTEGER NOT NULL,
  orders INTEGER NOT NULL,
  captured INTEGER NOT NULL,
  duplicated INTEGER NOT NULL,          -- captured orders that were reported more than once
  duplicates INTEGER NOT NULL,          -- reports of these orders, not counting the first of each
  valued INTEGER NOT NULL,              -- captured orders with a value in the shop and in the report
  deviating INTEGER NOT NULL,           -- of these, orders whose values differ
  shopValue REAL NOT NULL,              -- value of `valued` orders in the shop
  reportedValue REAL NOT NULL,          -- value of `valued` orders in the report
  value REAL NOT NULL,                  -- value of all orders in the currency of the organization
  capturedValue REAL NOT NULL,          -- value of captured orders in the currency of the organization
  delayMs INTEGER,                      -- median time from an order to its posting; null: unknown
  PRIMARY KEY (ruleId, startAt)
) STRICT, WITHOUT ROWID;
CREATE INDEX orderCaptureCountByAge ON orderCaptureCount (startAt);
