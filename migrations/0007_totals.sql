-- Totals of the counters at /metrics. The counted rows are deleted later (retention, deleted domains), and a counter
-- that decreases is interpreted as one that was reset.
CREATE TABLE total (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO total VALUES
  ('eventsStored', (SELECT ifnull(sum(events), 0) FROM usage)),
  ('itemsRejected', (SELECT ifnull(sum(count), 0) FROM rejection)),
  ('deliveriesFailed', (SELECT count(*) FROM delivery WHERE status = 'failed'));

CREATE TRIGGER usageBegan AFTER INSERT ON usage BEGIN
  UPDATE total SET value = value + NEW.events WHERE name = 'eventsStored';
END;
CREATE TRIGGER usageGrew AFTER UPDATE OF events ON usage BEGIN
  UPDATE total SET value = value + NEW.events - OLD.events WHERE name = 'eventsStored';
END;

CREATE TRIGGER rejectionBegan AFTER INSERT ON rejection BEGIN
  UPDATE total SET value = value + NEW.count WHERE name = 'itemsRejected';
END;
CREATE TRIGGER rejectionGrew AFTER UPDATE OF count ON rejection BEGIN
  UPDATE total SET value = value + NEW.count - OLD.count WHERE name = 'itemsRejected';
END;

CREATE TRIGGER deliveryFailed AFTER UPDATE OF status ON delivery WHEN NEW.status = 'failed' AND OLD.status <> 'failed' BEGIN
  UPDATE total SET value = value + 1 WHERE name = 'deliveriesFailed';
END;
